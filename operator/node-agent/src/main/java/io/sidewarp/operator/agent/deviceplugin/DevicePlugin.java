// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.sidewarp.operator.agent.device.Backoff;
import io.sidewarp.operator.agent.device.DeviceInventory;
import io.sidewarp.operator.agent.device.DirectoryWatch;
import io.sidewarp.operator.agent.device.PluginStatus;
import io.sidewarp.operator.agent.device.SocketFile;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.kubelet.DevicePluginApi;
import io.sidewarp.operator.kubelet.UnixTransport;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.RegisterRequest;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.RegistrationGrpc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The device plugin for {@code sidewarp.io/rnic}. One thread serves the plugin and registers it with the kubelet. The
 * thread does both again in three cases:
 *
 * <ul>
 *   <li>the kubelet has restarted, and so has removed all sockets in the directory;
 *   <li>the plugin's socket is gone;
 *   <li>the kubelet no longer watches the devices.
 * </ul>
 *
 * <p>Failures are retried without limit. The delay between retries doubles up to a maximum. A new kubelet socket causes
 * an immediate retry.
 */
public final class DevicePlugin implements AutoCloseable {

    /** The plugin's socket in the kubelet's directory. */
    static final String SOCKET = "sidewarp-rnic.sock";

    private static final System.Logger LOG = System.getLogger(DevicePlugin.class.getName());
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(10);

    private final DevicePluginConfig config;
    private final DeviceInventory inventory;
    private final Path socket;
    private final Path kubeletSocket;
    private final Backoff backoff;
    private volatile PluginStatus status = new PluginStatus(PluginStatus.State.STOPPED, "not started");
    private @Nullable Thread thread;

    public DevicePlugin(DevicePluginConfig config, DeviceInventory inventory) {
        this.config = config;
        this.inventory = inventory;
        socket = config.devicePluginDirectory().resolve(SOCKET);
        kubeletSocket = config.devicePluginDirectory().resolve(DevicePluginApi.KUBELET_SOCKET);
        backoff = new Backoff(config.registrationRetry(), config.registrationRetryMax());
    }

    /** Starts the plugin. Never fails because of the kubelet; see {@link #status()} for problems. */
    public synchronized void start() {
        if (thread == null) {
            thread = Thread.ofPlatform().name("device-plugin").daemon().start(this::run);
        }
    }

    public PluginStatus status() {
        return status;
    }

    /** Ends all streams and removes the socket. Pods keep their devices; new pods get none. */
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

    private void run() {
        try (UnixTransport transport = new UnixTransport("device-plugin");
                DirectoryWatch directory = new DirectoryWatch(config.devicePluginDirectory())) {
            while (true) {
                SocketFile kubelet = awaitKubelet(directory);
                try {
                    serve(transport, directory);
                } catch (IOException | StatusRuntimeException e) {
                    if (Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                    retry(directory, kubelet, e);
                }
            }
        } catch (InterruptedException e) {
            enter(PluginStatus.State.STOPPED, "stopped");
        }
    }

    private void awaitDevices() throws InterruptedException {
        Object known = new Object();
        try (DeviceInventory.Subscription _ = inventory.onChange(() -> {
            synchronized (known) {
                known.notifyAll();
            }
        })) {
            synchronized (known) {
                while (inventory.devices().isEmpty()) {
                    enter(PluginStatus.State.WAITING_FOR_DEVICES, "the devices of this node are not known yet");
                    known.wait();
                }
            }
        }
    }

    private SocketFile awaitKubelet(DirectoryWatch directory) throws InterruptedException {
        while (true) {
            Optional<SocketFile> kubelet = SocketFile.at(kubeletSocket);
            if (kubelet.isPresent()) {
                return kubelet.get();
            }
            enter(
                    PluginStatus.State.WAITING_FOR_KUBELET,
                    kubeletSocket + " is not there: the kubelet does not run, or its directory is not the one that"
                            + " sidewarp.agent.device-plugin-directory names");
            directory.await(config.kubeletCheckInterval());
        }
    }

    /** Serves and registers. Returns when both must be done again. */
    private void serve(UnixTransport transport, DirectoryWatch directory) throws IOException, InterruptedException {
        boolean superseded;
        // Serves before the devices are known: the classes for it take a good part of the agent's start to load.
        try (PluginServer server = new PluginServer(transport, socket, inventory)) {
            awaitDevices();
            register(transport);
            // The socket of the kubelet that has answered; an earlier socket may belong to another kubelet. A kubelet
            // that restarts before this line removes the plugin's socket.
            Optional<SocketFile> kubelet = SocketFile.at(kubeletSocket);
            backoff.reset();
            enter(PluginStatus.State.REGISTERED, "the kubelet has accepted " + SidewarpApi.RNIC_RESOURCE);
            String ending = awaitLoss(server, directory, kubelet);
            LOG.log(System.Logger.Level.INFO, "{0}: registering again", ending);
            superseded = !server.holdsSocket() && Files.exists(socket, LinkOption.NOFOLLOW_LINKS);
        }
        if (superseded) {
            awaitSuccessorsEnd(directory);
        }
    }

    private void register(UnixTransport transport) {
        ManagedChannel channel = transport.channel(kubeletSocket);
        try {
            RegistrationGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(config.kubeletTimeout().toNanos(), TimeUnit.NANOSECONDS)
                    .register(RegisterRequest.newBuilder()
                            .setVersion(DevicePluginApi.VERSION)
                            .setEndpoint(SOCKET)
                            .setResourceName(SidewarpApi.RNIC_RESOURCE)
                            .setOptions(DevicePluginService.OPTIONS)
                            .build());
        } finally {
            channel.shutdownNow();
        }
    }

    /** Waits until the kubelet may no longer know the plugin, and returns the reason. */
    private String awaitLoss(PluginServer server, DirectoryWatch directory, Optional<SocketFile> kubelet)
            throws InterruptedException {
        long watchedAt = System.nanoTime();
        while (true) {
            if (!server.holdsSocket()) {
                return "the socket " + socket + " was removed or replaced";
            }
            if (!SocketFile.at(kubeletSocket).equals(kubelet)) {
                return "the kubelet has stopped or restarted";
            }
            long now = System.nanoTime();
            if (server.watched()) {
                watchedAt = now;
            } else if (now - watchedAt > config.kubeletWatchTimeout().toNanos()) {
                return "the kubelet does not watch the devices";
            }
            directory.await(config.kubeletCheckInterval());
        }
    }

    private void awaitSuccessorsEnd(DirectoryWatch directory) throws InterruptedException {
        enter(
                PluginStatus.State.SUPERSEDED,
                "another process serves " + SidewarpApi.RNIC_RESOURCE + " at " + socket
                        + ": there must be one node agent only on this node");
        while (SocketFile.served(socket)) {
            directory.await(config.kubeletCheckInterval());
        }
    }

    /** Waits before the next attempt; returns early if the kubelet restarts. */
    private void retry(DirectoryWatch directory, SocketFile kubelet, Exception failure) throws InterruptedException {
        Duration wait = backoff.next();
        enter(
                PluginStatus.State.RETRYING,
                "cannot register " + SidewarpApi.RNIC_RESOURCE + " with the kubelet at " + kubeletSocket + ": "
                        + failure.getMessage() + "; retried with at most "
                        + config.registrationRetryMax().toSeconds() + " s between attempts");
        long end = System.nanoTime() + wait.toNanos();
        long left = wait.toNanos();
        while (left > 0 && SocketFile.at(kubeletSocket).equals(Optional.of(kubelet))) {
            directory.await(Duration.ofNanos(
                    Math.min(left, config.kubeletCheckInterval().toNanos())));
            left = end - System.nanoTime();
        }
    }

    private void enter(PluginStatus.State state, String message) {
        PluginStatus former = status;
        // The state does not change while the plugin registers again.
        boolean news = state == PluginStatus.State.REGISTERED
                || former.state() != state
                || !Objects.equals(former.message(), message);
        status = new PluginStatus(state, message);
        if (news) {
            boolean fine = state == PluginStatus.State.REGISTERED || state == PluginStatus.State.STOPPED;
            LOG.log(fine ? System.Logger.Level.INFO : System.Logger.Level.WARNING, "device plugin: {0}", message);
        }
    }
}
