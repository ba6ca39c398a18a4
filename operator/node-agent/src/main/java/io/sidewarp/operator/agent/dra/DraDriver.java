// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.agent.device.Backoff;
import io.sidewarp.operator.agent.device.DeviceInventory;
import io.sidewarp.operator.agent.device.DeviceName;
import io.sidewarp.operator.agent.device.PluginStatus;
import io.sidewarp.operator.agent.device.PluginStatus.State;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.device.SocketFile;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.kubelet.UnixServer;
import io.sidewarp.operator.kubelet.UnixTransport;
import io.sidewarp.operator.kubelet.pluginregistration.v1.RegistrationStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The driver of Dynamic Resource Allocation. One thread serves the driver at two sockets, which the kubelet finds by
 * itself, and publishes ResourceSlices once the kubelet has accepted the driver.
 *
 * <p>The slices are published again at each registration and at each change of the devices, and compared from time to
 * time: a kubelet that starts deletes all slices of its node, and may do so after the registration.
 *
 * <p>The driver serves while the node offers devices to claims, and then as long as claims are prepared, so that their
 * pods can end.
 */
public final class DraDriver implements AutoCloseable {

    static final String REGISTRATION_SOCKET = SidewarpApi.RNIC_DRIVER + "-reg.sock";
    static final String SOCKET = "dra.sock";

    private static final Logger LOG = Logger.getLogger(DraDriver.class);
    private static final Duration FIRST_COMPARISON = Duration.ofSeconds(5);
    private static final Duration LAST_COMPARISON = Duration.ofMinutes(5);
    private static final Duration SOCKET_CHECK = Duration.ofSeconds(5);
    private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
    private static final Duration LAST_RETRY = Duration.ofSeconds(30);

    /**
     * Time for which the driver stays registered without a claim. The kubelet drops the connection to a driver that is
     * gone from its registry, and with the connection the answer about the last claim: the pod would never end.
     */
    private static final Duration LINGER = Duration.ofSeconds(10);

    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(2);
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(10);
    private static final int FORBIDDEN = 403;

    private final Path registrationSocket;
    private final Path socket;
    private final DeviceInventory claimable;
    private final DeviceInventory known;
    private final SlicePublisher publisher;
    private final CdiFiles files;
    private final ClaimService claims;
    private final HealthService health;
    private final LinkedBlockingQueue<Boolean> wakeUps = new LinkedBlockingQueue<>(1);
    private final Backoff comparisons = new Backoff(FIRST_COMPARISON, LAST_COMPARISON);
    private final Backoff retries = new Backoff(FIRST_RETRY, LAST_RETRY);
    private volatile PluginStatus status = new PluginStatus(State.STOPPED, "not started");
    private volatile boolean offering;

    /** Whether the offer is known. Before, the slices of a former agent stay as they are. */
    private volatile boolean decided;

    private volatile boolean stale;
    private volatile boolean newServer;
    private long neededAt = System.nanoTime() - LINGER.toNanos();

    /** Whether to look for records of claims that a former kubelet has not unprepared. */
    private volatile boolean newKubelet;

    private @Nullable Thread thread;

    /**
     * Makes a driver.
     *
     * @param node name of the node
     * @param claimable devices that claims can have
     * @param known all devices of the node, also those that claims cannot have
     */
    public DraDriver(
            DraConfig config, String node, KubernetesClient client, DeviceInventory claimable, DeviceInventory known) {
        registrationSocket = config.pluginRegistryDirectory().resolve(REGISTRATION_SOCKET);
        socket = config.draPluginDirectory().resolve(SOCKET);
        this.claimable = claimable;
        this.known = known;
        publisher = new SlicePublisher(client, node);
        files = new CdiFiles(config.cdiDirectory());
        claims = new ClaimService(node, client, claimable, files, this::wake);
        health = new HealthService(node, known);
    }

    /** Starts the driver. Never fails because of the kubelet or the API server; see {@link #status()} for problems. */
    public synchronized void start() {
        if (thread == null) {
            thread = Thread.ofPlatform().name("dra-driver").daemon().start(this::run);
        }
    }

    /**
     * Sets whether the node offers devices to claims.
     *
     * @param owner owner of the ResourceSlices
     */
    public void offer(boolean toClaims, Optional<OwnerReference> owner) {
        publisher.ownedBy(owner);
        if (!decided || offering != toClaims) {
            offering = toClaims;
            decided = true;
            stale = true;
            wake();
        }
    }

    public PluginStatus status() {
        return status;
    }

    /** Returns the claims that are prepared, by the approximate id of each device. */
    public Map<String, List<String>> preparedDevices() {
        Map<String, List<String>> users = new HashMap<>();
        for (PreparedClaim claim : files.claims()) {
            claim.devices()
                    .forEach(device -> users.computeIfAbsent(
                                    DeviceName.approximateId(device.device()), _ -> new ArrayList<>())
                            .add(claim.toString()));
        }
        return users;
    }

    /** Returns the devices of prepared claims. */
    List<PreparedClaim> prepared() {
        return files.claims();
    }

    /** Ends all streams and removes the sockets. Pods keep their devices; new pods wait for the next driver. */
    @Override
    public synchronized void close() {
        if (thread == null) {
            return;
        }
        thread.interrupt();
        try {
            thread.join(STOP_PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        thread = null;
    }

    private void wake() {
        wakeUps.offer(true);
    }

    private void changed() {
        if (offering) {
            stale = true;
        }
        wake();
    }

    private boolean isNeeded() {
        long now = System.nanoTime();
        if (offering || !files.claims().isEmpty()) {
            neededAt = now;
        }
        return now - neededAt < LINGER.toNanos();
    }

    private void run() {
        try (UnixTransport transport = new UnixTransport("dra-driver");
                DeviceInventory.Subscription _ = claimable.onChange(this::changed);
                DeviceInventory.Subscription _ = known.onChange(health::send)) {
            while (true) {
                try {
                    if (isNeeded()) {
                        serve(transport);
                        awaitSuccessorsEnd();
                    } else {
                        rest();
                    }
                } catch (IOException | RuntimeException e) {
                    LOG.debug("event=dra-driver-failed", e);
                    enter(
                            State.RETRYING,
                            "cannot serve claims at " + socket + " and " + registrationSocket + ": " + e
                                    + "; tried again");
                    wakeUps.poll(retries.next().toMillis(), TimeUnit.MILLISECONDS);
                }
            }
        } catch (InterruptedException e) {
            enter(State.STOPPED, "stopped");
        }
    }

    /** Waits until claims are offered. Removes slices and sockets that are left from before. */
    private void rest() throws IOException, InterruptedException {
        enter(State.STOPPED, "the node offers no devices to claims");
        if (!SocketFile.served(registrationSocket)) {
            // A killed agent has left it, and the kubelet would try it for ever.
            Files.deleteIfExists(registrationSocket);
        }
        // A node that offers devices since the last look keeps its slices.
        if (decided && !offering && stale && !publish(List.of())) {
            stale = true;
            wakeUps.poll(retries.next().toMillis(), TimeUnit.MILLISECONDS);
        } else {
            wakeUps.take();
        }
    }

    /** Serves and publishes until the driver is not needed, or its sockets are gone. */
    private void serve(UnixTransport transport) throws IOException, InterruptedException {
        Files.createDirectories(socket.getParent());
        Files.createDirectories(registrationSocket.getParent());
        try (UnixServer driver = UnixServer.start(transport, socket, List.of(claims, health))) {
            enter(
                    State.WAITING_FOR_KUBELET,
                    "the kubelet has not found " + registrationSocket + " yet: it does not run, or watches another"
                            + " directory than sidewarp.agent.plugin-registry-directory names");
            DraRegistration registration = new DraRegistration(socket, this::registered);
            try (UnixServer announced = UnixServer.start(transport, registrationSocket, List.of(registration))) {
                retries.reset();
                long reported = System.nanoTime();
                long compared = reported;
                Duration comparison = Duration.ZERO;
                while (isNeeded() && driver.holdsSocket() && announced.holdsSocket()) {
                    long now = System.nanoTime();
                    if (now - reported >= HealthService.INTERVAL.toNanos()) {
                        health.send();
                        reported = now;
                    }
                    if (decided && status.registered() && (stale || now - compared >= comparison.toNanos())) {
                        if (stale) {
                            comparisons.reset();
                        }
                        boolean published = publish(offered());
                        if (newKubelet) {
                            newKubelet = false;
                            if (!claims.removeOrphans()) {
                                newKubelet = true;
                            }
                        }
                        compared = now;
                        comparison = published ? comparisons.next() : retries.next();
                    }
                    wakeUps.poll(SOCKET_CHECK.toMillis(), TimeUnit.MILLISECONDS);
                }
            } finally {
                health.complete();
                driver.close(CLOSE_PATIENCE);
            }
        }
    }

    private List<RnicDevice> offered() {
        return offering ? claimable.devices().orElse(List.of()) : List.of();
    }

    /** Returns whether the slices are as they should be. */
    private boolean publish(List<RnicDevice> devices) {
        // Comes first: what changes from here on is published next time.
        stale = false;
        if (newServer) {
            newServer = false;
            publisher.forgetServer();
        }
        try {
            publisher.publish(devices);
            retries.reset();
            return true;
        } catch (KubernetesClientException e) {
            if (devices.isEmpty() && e.getCode() == FORBIDDEN) {
                // The chart grants nothing where the API server has no ResourceSlices.
                return true;
            }
            if (!Thread.currentThread().isInterrupted()) {
                LOG.warnf("event=slices-not-published cause=%s", LogText.quoted(e.getMessage()));
            }
            return false;
        }
    }

    private void registered(RegistrationStatus answer) {
        if (answer.getPluginRegistered()) {
            enter(State.REGISTERED, "the kubelet has accepted " + SidewarpApi.RNIC_DRIVER);
            newServer = true;
            claims.kubeletRegistered();
            newKubelet = true;
            changed();
        } else {
            enter(
                    State.RETRYING,
                    "the kubelet refuses " + SidewarpApi.RNIC_DRIVER + ": " + answer.getError()
                            + "; the kubelet tries again");
        }
    }

    private void awaitSuccessorsEnd() throws InterruptedException {
        while (SocketFile.served(socket)) {
            enter(
                    State.SUPERSEDED,
                    "another process serves " + SidewarpApi.RNIC_DRIVER + " at " + socket
                            + ": there must be one node agent only on this node");
            wakeUps.poll(SOCKET_CHECK.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void enter(State state, String message) {
        PluginStatus former = status;
        status = new PluginStatus(state, message);
        if (!former.equals(status)) {
            boolean fine = state == State.REGISTERED || state == State.STOPPED;
            LOG.logf(
                    fine ? Logger.Level.INFO : Logger.Level.WARN,
                    "event=dra-driver state=%s message=%s",
                    state,
                    LogText.quoted(message));
        }
    }
}
