// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.sidewarp.operator.kubelet.DraApi;
import io.sidewarp.operator.kubelet.UnixTransport;
import io.sidewarp.operator.kubelet.dra.v1.Claim;
import io.sidewarp.operator.kubelet.dra.v1.Device;
import io.sidewarp.operator.kubelet.dra.v1.NodePrepareResourceResponse;
import io.sidewarp.operator.kubelet.dra.v1.NodePrepareResourcesRequest;
import io.sidewarp.operator.kubelet.dra.v1.NodeUnprepareResourcesRequest;
import io.sidewarp.operator.kubelet.drahealth.v1alpha1.DeviceHealth;
import io.sidewarp.operator.kubelet.pluginregistration.v1.InfoRequest;
import io.sidewarp.operator.kubelet.pluginregistration.v1.PluginInfo;
import io.sidewarp.operator.kubelet.pluginregistration.v1.RegistrationGrpc;
import io.sidewarp.operator.kubelet.pluginregistration.v1.RegistrationStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Drivers of Dynamic Resource Allocation and prepared claims, with the rules of the kubelet:
 *
 * <ul>
 *   <li>Each socket in {@code plugins_registry} is a driver. The driver is gone when its socket is gone.
 *   <li>Claims are prepared and unprepared by the registered driver only; otherwise pods wait, both at start and end.
 *   <li>A kubelet that restarts remembers claims, and prepares each again for the next container.
 * </ul>
 */
public final class DraManager implements AutoCloseable {

    /** A claim of a pod. */
    record Prepared(PodName pod, Claim claim, String driver, List<Device> devices, boolean sinceStart) {}

    private record Socket(Path path, Object inode, Object changed) {}

    private static final long SCAN_MILLIS = 50;
    private static final long DEADLINE_SECONDS = 10;

    private final Path registry;
    private final UnixTransport transport;
    private final Map<Socket, DraPlugin> plugins = new LinkedHashMap<>();
    private final Map<String, Prepared> claims = new LinkedHashMap<>();
    private final AtomicInteger registrations = new AtomicInteger();
    private volatile String refusal = "";
    private @Nullable ScheduledExecutorService watcher;

    DraManager(Path root, UnixTransport transport) {
        this.registry = root.resolve("plugins_registry");
        this.transport = transport;
    }

    /** Returns the directory in which drivers register. It is made when the kubelet starts. */
    public Path registry() {
        return registry;
    }

    synchronized void start() throws IOException {
        Files.createDirectories(registry);
        ScheduledExecutorService started = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("plugin-watcher").factory());
        started.scheduleWithFixedDelay(this::scan, 0, SCAN_MILLIS, TimeUnit.MILLISECONDS);
        watcher = started;
    }

    /** Forgets all drivers, as a kubelet that stops. Claims stay known, but have to be prepared again. */
    synchronized void stop() {
        if (watcher != null) {
            watcher.shutdownNow();
            watcher = null;
        }
        plugins.values().forEach(DraPlugin::close);
        plugins.clear();
        claims.replaceAll(
                (uid, claim) -> new Prepared(claim.pod(), claim.claim(), claim.driver(), claim.devices(), false));
    }

    /** Refuses later registrations with a reason; accepts them if the reason is empty. */
    public void refuseRegistrations(String reason) {
        refusal = reason;
    }

    /** Returns the number of accepted registrations. */
    public int registrations() {
        return registrations.get();
    }

    /** Returns whether a driver is registered. */
    public boolean isRegistered(String driver) {
        return find(driver).isPresent();
    }

    /** Returns the health of a driver's devices, by name; empty if no driver tells. */
    public Map<String, DeviceHealth> health(String driver) {
        return find(driver).map(DraPlugin::health).orElse(Map.of());
    }

    /**
     * Prepares a claim for a pod, as before its first container. A claim that is prepared already keeps its devices.
     *
     * @throws ClaimException if a kubelet would let the pod wait
     */
    public List<Device> prepare(PodName pod, ResourceClaim claim, String driver) throws ClaimException {
        Claim named = Claim.newBuilder()
                .setNamespace(claim.getMetadata().getNamespace())
                .setName(claim.getMetadata().getName())
                .setUid(claim.getMetadata().getUid())
                .build();
        DraPlugin plugin = require(driver);
        synchronized (this) {
            Prepared present = claims.get(named.getUid());
            if (present != null && present.sinceStart()) {
                return present.devices();
            }
            // From here on the claim has to be unprepared, even if its preparation fails.
            claims.put(named.getUid(), new Prepared(pod, named, driver, List.of(), false));
        }
        try {
            NodePrepareResourceResponse answer = plugin.stub()
                    .nodePrepareResources(NodePrepareResourcesRequest.newBuilder()
                            .addClaims(named)
                            .build())
                    .getClaimsMap()
                    .get(named.getUid());
            if (answer == null) {
                throw new ClaimException("NodePrepareResources skipped 1 ResourceClaims");
            }
            if (!answer.getError().isEmpty()) {
                throw new ClaimException(
                        "NodePrepareResources failed for ResourceClaim " + named.getName() + ": " + answer.getError());
            }
            synchronized (this) {
                claims.put(named.getUid(), new Prepared(pod, named, driver, answer.getDevicesList(), true));
            }
            return answer.getDevicesList();
        } catch (StatusRuntimeException e) {
            throw new ClaimException("NodePrepareResources: " + e.getMessage(), e);
        }
    }

    /**
     * Unprepares a claim after its pod has ended.
     *
     * @throws ClaimException if a kubelet would let the pod terminate further
     */
    public void unprepare(ResourceClaim claim, String driver) throws ClaimException {
        Prepared present;
        synchronized (this) {
            present = claims.get(claim.getMetadata().getUid());
        }
        Claim named = present != null
                ? present.claim()
                : Claim.newBuilder()
                        .setNamespace(claim.getMetadata().getNamespace())
                        .setName(claim.getMetadata().getName())
                        .setUid(claim.getMetadata().getUid())
                        .build();
        try {
            String error = require(driver)
                    .stub()
                    .nodeUnprepareResources(NodeUnprepareResourcesRequest.newBuilder()
                            .addClaims(named)
                            .build())
                    .getClaimsOrThrow(named.getUid())
                    .getError();
            if (!error.isEmpty()) {
                throw new ClaimException("NodeUnprepareResources failed: " + error);
            }
        } catch (StatusRuntimeException e) {
            throw new ClaimException("NodeUnprepareResources: " + e.getMessage(), e);
        }
        synchronized (this) {
            claims.remove(named.getUid());
        }
    }

    /** Records a device that a pod has by a claim, without a driver. */
    public synchronized void hold(PodName pod, String driver, String device) {
        Claim claim = Claim.newBuilder()
                .setNamespace(pod.namespace())
                .setName(pod.name())
                .setUid(pod + "-" + device)
                .build();
        claims.put(
                claim.getUid(),
                new Prepared(
                        pod,
                        claim,
                        driver,
                        List.of(Device.newBuilder().setDeviceName(device).build()),
                        true));
    }

    synchronized List<Prepared> prepared() {
        return List.copyOf(claims.values());
    }

    private DraPlugin require(String driver) throws ClaimException {
        return find(driver).orElseThrow(() -> new ClaimException("DRA driver " + driver + " is not registered"));
    }

    private synchronized Optional<DraPlugin> find(String driver) {
        return plugins.values().stream()
                .filter(plugin -> plugin.driver().equals(driver))
                .findFirst();
    }

    /** Registers the drivers of new sockets, and forgets those whose sockets are gone. */
    private void scan() {
        List<Socket> present = new ArrayList<>();
        try (var files = Files.newDirectoryStream(registry, "[!.]*.sock")) {
            for (Path file : files) {
                present.add(new Socket(
                        file,
                        Files.getAttribute(file, "unix:ino", LinkOption.NOFOLLOW_LINKS),
                        Files.getAttribute(file, "unix:ctime", LinkOption.NOFOLLOW_LINKS)));
            }
        } catch (IOException e) {
            // A socket went away in between.
            return;
        }
        synchronized (this) {
            plugins.entrySet().removeIf(entry -> {
                boolean gone = !present.contains(entry.getKey());
                if (gone) {
                    entry.getValue().close();
                }
                return gone;
            });
        }
        for (Socket socket : present) {
            boolean known;
            synchronized (this) {
                known = plugins.containsKey(socket);
            }
            if (!known) {
                register(socket);
            }
        }
    }

    private void register(Socket socket) {
        ManagedChannel channel = transport.channel(socket.path());
        try {
            RegistrationGrpc.RegistrationBlockingStub stub =
                    RegistrationGrpc.newBlockingStub(channel).withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
            PluginInfo info = stub.getInfo(InfoRequest.getDefaultInstance());
            String objection = refusal.isEmpty() ? objection(info) : refusal;
            if (objection.isEmpty()) {
                DraPlugin plugin = new DraPlugin(info, transport.channel(Path.of(info.getEndpoint())));
                synchronized (this) {
                    plugins.put(socket, plugin);
                }
                plugin.watchHealth();
                registrations.incrementAndGet();
            }
            stub.notifyRegistrationStatus(RegistrationStatus.newBuilder()
                    .setPluginRegistered(objection.isEmpty())
                    .setError(objection)
                    .build());
        } catch (StatusRuntimeException e) {
            // Nobody listens yet, or any more: the next scan tries again.
        } finally {
            channel.shutdownNow();
        }
    }

    private static String objection(PluginInfo info) {
        if (!info.getType().equals(DraApi.PLUGIN_TYPE)) {
            return "no handler registered for plugin type: " + info.getType();
        }
        if (!info.getSupportedVersionsList().contains(DraApi.DRA_SERVICE)) {
            return "none of services supported by the plugin (" + info.getSupportedVersionsList()
                    + ") are supported by the kubelet";
        }
        return Path.of(info.getEndpoint()).isAbsolute() ? "" : "the endpoint is no absolute path";
    }

    @Override
    public void close() {
        stop();
    }
}
