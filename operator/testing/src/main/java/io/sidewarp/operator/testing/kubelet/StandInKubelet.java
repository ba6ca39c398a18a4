// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.kubelet.DevicePluginApi;
import io.sidewarp.operator.kubelet.UnixServer;
import io.sidewarp.operator.kubelet.UnixTransport;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Device;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.RegisterRequest;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of a kubelet that deals with device plugins, on real Unix sockets in a directory of the test. It accepts
 * registrations, calls plugins back and watches their devices. It gives devices to pods with the plugin's advice, and
 * tells which pod has which device. It can stop and start as a kubelet does, and report to a node's status. {@link
 * DraManager} deals with drivers of Dynamic Resource Allocation.
 */
public final class StandInKubelet implements AutoCloseable {

    /** File in which a kubelet keeps its allocations. It survives a restart, as in a kubelet. */
    private static final String CHECKPOINT = "kubelet_internal_checkpoint";

    private final Path pluginDirectory;
    private final Path podResourcesSocket;
    private final UnixTransport transport = new UnixTransport("kubelet");
    private final DeviceManager devices = new DeviceManager(this::report);
    private final RegistrationService registrations = new RegistrationService(this::connect);
    private final DraManager claims;
    private @Nullable UnixServer registrationServer;
    private @Nullable UnixServer podResourcesServer;
    private volatile @Nullable NodeStatusReporter reporter;

    /**
     * Makes a kubelet that does not run yet.
     *
     * @param root directory that replaces /var/lib/kubelet; short enough for paths of Unix sockets (107 bytes)
     */
    public StandInKubelet(Path root) {
        pluginDirectory = root.resolve("device-plugins");
        podResourcesSocket = root.resolve("pod-resources/kubelet.sock");
        claims = new DraManager(root, transport);
    }

    /** Returns the part that deals with drivers of Dynamic Resource Allocation. */
    public DraManager claims() {
        return claims;
    }

    /** Returns the directory for the sockets of plugins. It is made when the kubelet starts. */
    public Path devicePluginDirectory() {
        return pluginDirectory;
    }

    /** Returns the socket that serves {@code PodResourcesLister}. */
    public Path podResourcesSocket() {
        return podResourcesSocket;
    }

    /** Starts to serve. First removes all files but the kubelet's own state from the plugins' directory. */
    public synchronized StandInKubelet start() throws IOException {
        Files.createDirectories(pluginDirectory);
        Files.createDirectories(podResourcesSocket.getParent());
        try (var files = Files.newDirectoryStream(pluginDirectory)) {
            for (Path file : files) {
                if (!file.endsWith(CHECKPOINT) && !Files.isDirectory(file)) {
                    Files.deleteIfExists(file);
                }
            }
        }
        Files.writeString(pluginDirectory.resolve(CHECKPOINT), "{}");
        podResourcesServer =
                UnixServer.start(transport, podResourcesSocket, List.of(new PodResourcesService(devices, claims)));
        registrationServer = UnixServer.start(transport, kubeletSocket(), List.of(registrations));
        claims.start();
        return this;
    }

    /** Stops as a kubelet does: connections break, and its sockets stay behind without a listener. */
    public synchronized void stop() throws IOException {
        closeServers();
        devices.forgetPlugins();
        claims.stop();
        leaveDeadSocket(kubeletSocket());
        leaveDeadSocket(podResourcesSocket);
    }

    public void restart() throws IOException {
        stop();
        start();
    }

    /** Sets the answer to later registrations. */
    public void answerRegistrations(RegistrationAnswer answer) {
        registrations.answer(answer);
    }

    /** Returns the number of registration calls of all plugins since the kubelet was made, whatever their outcome. */
    public int registrationCalls() {
        return registrations.calls();
    }

    /** Returns the devices of a resource, healthy or not, from the plugin's last list. */
    public List<Device> devices(String resource) {
        return devices.resource(resource).devices();
    }

    /** Returns the number of devices, healthy or not. It is 0 from a start until the plugin has sent its list. */
    public int capacity(String resource) {
        return devices(resource).size();
    }

    /** Returns the number of healthy devices of a connected plugin. */
    public int allocatable(String resource) {
        return devices.resource(resource).healthy().size();
    }

    /**
     * Gives devices to a container, as at the admission of its pod. A repeated call returns the earlier allocation.
     *
     * @throws AllocationException if there are too few devices, or the plugin refuses; a kubelet would not admit the
     *     pod
     */
    public ContainerAllocation allocate(PodName pod, String container, String resource, int count)
            throws AllocationException {
        return devices.allocate(pod, container, resource, count);
    }

    /** Frees the devices of a pod that has ended. */
    public void release(PodName pod) {
        devices.release(pod);
    }

    /** Writes capacity and allocatable of all resources into the status of an existing node, now and at each change. */
    public synchronized void reportTo(KubernetesClient client, String nodeName) {
        closeReporter();
        reporter = new NodeStatusReporter(client, nodeName, devices::resources);
        report();
    }

    private void report() {
        NodeStatusReporter present = reporter;
        if (present != null) {
            present.report();
        }
    }

    private void connect(RegisterRequest request) {
        devices.register(
                request.getResourceName(),
                new PluginEndpoint(
                        transport.channel(pluginDirectory.resolve(request.getEndpoint())), request.getOptions()));
    }

    private Path kubeletSocket() {
        return pluginDirectory.resolve(DevicePluginApi.KUBELET_SOCKET);
    }

    private static void leaveDeadSocket(Path socket) throws IOException {
        try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.bind(UnixDomainSocketAddress.of(socket));
        }
    }

    private void closeServers() {
        if (registrationServer != null) {
            registrationServer.close();
            registrationServer = null;
        }
        if (podResourcesServer != null) {
            podResourcesServer.close();
            podResourcesServer = null;
        }
    }

    private void closeReporter() {
        NodeStatusReporter present = reporter;
        if (present != null) {
            reporter = null;
            present.close();
        }
    }

    @Override
    public synchronized void close() {
        closeReporter();
        closeServers();
        devices.forgetPlugins();
        claims.close();
        transport.close();
    }
}
