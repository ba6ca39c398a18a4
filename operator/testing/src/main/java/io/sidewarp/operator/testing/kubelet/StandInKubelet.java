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
 * The part of a kubelet that deals with device plugins, on real Unix sockets below a directory of the test's own: it takes
 * registrations, calls plugins back, watches their devices, gives devices to pods with the plugin's advice, and tells
 * which pod has which device. It can stop and start as a kubelet does, and report to a node's status.
 */
public final class StandInKubelet implements AutoCloseable {

    /** Where a kubelet keeps what pods have. It survives a restart, as in a kubelet. */
    private static final String CHECKPOINT = "kubelet_internal_checkpoint";

    private final Path pluginDirectory;
    private final Path podResourcesSocket;
    private final UnixTransport transport = new UnixTransport("kubelet");
    private final DeviceManager devices = new DeviceManager(this::report);
    private final RegistrationService registrations = new RegistrationService(this::connect);
    private @Nullable UnixServer registrationServer;
    private @Nullable UnixServer podResourcesServer;
    private volatile @Nullable NodeStatusReporter reporter;

    /**
     * A kubelet that does not run yet.
     *
     * @param root takes the place of /var/lib/kubelet; short enough for paths of Unix sockets (107 octets)
     */
    public StandInKubelet(Path root) {
        pluginDirectory = root.resolve("device-plugins");
        podResourcesSocket = root.resolve("pod-resources/kubelet.sock");
    }

    /** Where plugins put their sockets; made when the kubelet starts. */
    public Path devicePluginDirectory() {
        return pluginDirectory;
    }

    /** Where {@code PodResourcesLister} is served. */
    public Path podResourcesSocket() {
        return podResourcesSocket;
    }

    /** Removes all files from the plugins' directory but its own state, and serves. */
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
        podResourcesServer = UnixServer.start(transport, podResourcesSocket, List.of(new PodResourcesService(devices)));
        registrationServer = UnixServer.start(transport, kubeletSocket(), List.of(registrations));
        return this;
    }

    /** Ends as a kubelet does: connections break, and its sockets stay behind with nobody listening. */
    public synchronized void stop() throws IOException {
        closeServers();
        devices.forgetPlugins();
        leaveDeadSocket(kubeletSocket());
        leaveDeadSocket(podResourcesSocket);
    }

    public void restart() throws IOException {
        stop();
        start();
    }

    /** From now on, registrations are answered so. */
    public void answerRegistrations(RegistrationAnswer answer) {
        registrations.answer(answer);
    }

    /** How many registrations were tried since the kubelet was made, of all plugins, whatever became of them. */
    public int registrationCalls() {
        return registrations.calls();
    }

    /** Devices of a resource, healthy or not, as its plugin told last. */
    public List<Device> devices(String resource) {
        return devices.resource(resource).devices();
    }

    /** Number of devices, healthy or not. 0 from the start until the plugin has told its devices. */
    public int capacity(String resource) {
        return devices(resource).size();
    }

    /** Number of healthy devices of a plugin that is connected. */
    public int allocatable(String resource) {
        return devices.resource(resource).healthy().size();
    }

    /**
     * Gives a container devices, as when its pod is admitted. Asked again, a container keeps what it has.
     *
     * @throws AllocationException when there are too few, or the plugin refuses; then the pod would not be admitted
     */
    public ContainerAllocation allocate(PodName pod, String container, String resource, int count)
            throws AllocationException {
        return devices.allocate(pod, container, resource, count);
    }

    /** A pod has ended: its devices are free. */
    public void release(PodName pod) {
        devices.release(pod);
    }

    /** Writes capacity and allocatable of all resources into the status of a node that exists, now and at each change. */
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
        transport.close();
    }
}
