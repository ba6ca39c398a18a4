// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sidewarp.operator.agent.device.DeviceInventory;
import io.sidewarp.operator.agent.device.PluginStatus.State;
import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Device;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.NUMANode;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.TopologyInfo;
import io.sidewarp.operator.testing.kubelet.AllocationException;
import io.sidewarp.operator.testing.kubelet.ContainerAllocation;
import io.sidewarp.operator.testing.kubelet.PodName;
import io.sidewarp.operator.testing.kubelet.RegistrationAnswer;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.MessageFormat;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the plugin against the protocol of a kubelet, on real sockets. */
class DevicePluginTest {

    private static final Duration LONG_ENOUGH = Duration.ofSeconds(20);
    private static final PodName POD = new PodName("default", "pod");
    private static final RnicDevice FIRST = RnicDevice.hardware("0000:3b:01.0", "iwp0", "uverbs0")
            .ofPhysicalFunction("0000:3b:00.0")
            .onNumaNode(1);
    private static final RnicDevice SECOND = RnicDevice.hardware("0000:3b:01.1", "iwp1", "uverbs1")
            .ofPhysicalFunction("0000:3b:00.0")
            .onNumaNode(1);

    @TempDir
    Path root;

    private StandInKubelet kubelet;
    private PublishedDevices devices;
    private DevicePlugin plugin;

    @BeforeEach
    void makeAll() {
        kubelet = new StandInKubelet(root);
        devices = new PublishedDevices();
        plugin = new DevicePlugin(new TestConfig(kubelet), devices);
    }

    @AfterEach
    void closeAll() {
        plugin.close();
        kubelet.close();
    }

    @Test
    void tellsTheKubeletDevicesWithHealthAndNumaNode() throws IOException {
        startWith(FIRST, RnicDevice.kernelSiw("siw0", 0, "uverbs2").faulty("the siw device is gone"));

        assertThat(kubelet.devices(RNIC_RESOURCE))
                .containsExactly(
                        Device.newBuilder()
                                .setID("0000:3b:01.0")
                                .setHealth("Healthy")
                                .setTopology(TopologyInfo.newBuilder()
                                        .addNodes(NUMANode.newBuilder().setID(1)))
                                .build(),
                        Device.newBuilder()
                                .setID("siw/siw0-0")
                                .setHealth("Unhealthy")
                                .build());
        assertThat(kubelet.allocatable(RNIC_RESOURCE)).isEqualTo(1);
        assertThat(plugin.status().registered()).isTrue();
    }

    @Test
    void doesNotRegisterBeforeTheDevicesAreKnown() throws IOException {
        kubelet.start();
        plugin.start();
        awaitState(State.WAITING_FOR_DEVICES);
        assertThat(kubelet.registrationCalls()).isZero();

        devices.publish(List.of(FIRST));
        awaitAllocatable(1);
    }

    @Test
    void tellsTheKubeletOfEachChange() throws IOException {
        startWith(FIRST, SECOND);

        devices.publish(List.of(FIRST, SECOND.faulty("link is down")));
        awaitAllocatable(1);
        assertThat(kubelet.capacity(RNIC_RESOURCE)).isEqualTo(2);

        devices.publish(List.of(FIRST, SECOND, RnicDevice.soft(0)));
        awaitAllocatable(3);

        devices.publish(List.of());
        awaitAllocatable(0);
        assertThat(kubelet.capacity(RNIC_RESOURCE)).isZero();
        assertThat(kubelet.registrationCalls()).isEqualTo(1);
    }

    @Test
    void registersAgainWhenTheKubeletRestarts() throws Exception {
        startWith(FIRST, SECOND);
        ContainerAllocation before = kubelet.allocate(POD, "sidecar", RNIC_RESOURCE, 1);

        kubelet.restart();

        awaitAllocatable(2);
        assertThat(kubelet.allocate(POD, "sidecar", RNIC_RESOURCE, 1)).isEqualTo(before);
        assertThat(kubelet.allocate(new PodName("default", "other"), "sidecar", RNIC_RESOURCE, 1)
                        .deviceIds())
                .doesNotContainAnyElementsOf(before.deviceIds());
    }

    @Test
    void logsEachRegistrationAlsoWhenTheStatusDoesNotChange() throws Exception {
        List<String> lines = new CopyOnWriteArrayList<>();
        Logger logger = Logger.getLogger(DevicePlugin.class.getName());
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                lines.add(entry.getLevel() + " " + MessageFormat.format(entry.getMessage(), entry.getParameters()));
            }

            @Override
            public void flush() {
                // Nothing is kept back.
            }

            @Override
            public void close() {
                // Nothing is open.
            }
        };
        logger.addHandler(handler);
        try {
            startWith(FIRST);
            Files.delete(kubelet.devicePluginDirectory().resolve(DevicePlugin.SOCKET));

            await().atMost(LONG_ENOUGH).until(() -> kubelet.registrationCalls() == 2);
            awaitAllocatable(1);
            await().atMost(LONG_ENOUGH)
                    .untilAsserted(() -> assertThat(lines)
                            .filteredOn("INFO device plugin: the kubelet has accepted sidewarp.io/rnic"::equals)
                            .hasSize(2));
            assertThat(lines).anySatisfy(line -> assertThat(line).contains("registering again"));
        } finally {
            logger.removeHandler(handler);
        }
    }

    @Test
    void registersOnceTheKubeletRunsAgainThatWasAway() throws IOException {
        startWith(FIRST);
        kubelet.stop();
        awaitState(State.RETRYING);
        assertThat(plugin.status().message()).contains("kubelet.sock");

        kubelet.start();
        awaitAllocatable(1);
        awaitState(State.REGISTERED);
    }

    @Test
    void waitsForAKubeletThatHasNeverRun() throws IOException {
        devices.publish(List.of(FIRST));
        plugin.start();
        awaitState(State.WAITING_FOR_KUBELET);
        assertThat(plugin.status().message()).contains("sidewarp.agent.device-plugin-directory");

        kubelet.start();
        awaitAllocatable(1);
    }

    @Test
    void givesUpWaitingForAKubeletThatDoesNotAnswerAndTriesAgain() throws IOException {
        plugin = new DevicePlugin(new TestConfig(kubelet).withKubeletTimeout(Duration.ofMillis(200)), devices);
        kubelet.answerRegistrations(RegistrationAnswer.NONE);
        kubelet.start();
        devices.publish(List.of(FIRST));
        plugin.start();
        await().atMost(LONG_ENOUGH).until(() -> kubelet.registrationCalls() >= 2);
        assertThat(plugin.status().message()).contains("DEADLINE_EXCEEDED");
        plugin.close();

        plugin = new DevicePlugin(new TestConfig(kubelet), devices);
        kubelet.answerRegistrations(RegistrationAnswer.ACCEPT);
        plugin.start();
        awaitAllocatable(1);
    }

    @Test
    void saysWhyTheKubeletRefusesAndTriesAgain() throws IOException {
        kubelet.answerRegistrations(RegistrationAnswer.REFUSE);
        kubelet.start();
        devices.publish(List.of(FIRST));
        plugin.start();
        await().atMost(LONG_ENOUGH).until(() -> kubelet.registrationCalls() >= 3);
        assertThat(plugin.status().message()).contains("told to refuse");
        assertThat(plugin.status().state()).isEqualTo(State.RETRYING);

        kubelet.answerRegistrations(RegistrationAnswer.ACCEPT);
        awaitAllocatable(1);
    }

    @Test
    void registersAgainWithAKubeletThatDoesNotCallBack() throws IOException {
        AtomicReference<Duration> patience = new AtomicReference<>(Duration.ofMillis(300));
        plugin = new DevicePlugin(new TestConfig(kubelet).withKubeletWatchTimeout(patience::get), devices);
        kubelet.answerRegistrations(RegistrationAnswer.FORGET);
        kubelet.start();
        devices.publish(List.of(FIRST));
        plugin.start();
        await().atMost(LONG_ENOUGH).until(() -> kubelet.registrationCalls() >= 2);

        kubelet.answerRegistrations(RegistrationAnswer.ACCEPT);
        int forgotten = kubelet.registrationCalls();
        await().atMost(LONG_ENOUGH).until(() -> kubelet.registrationCalls() > forgotten);
        patience.set(LONG_ENOUGH);
        awaitAllocatable(1);
    }

    @Test
    void servesAgainWhenItsSocketIsRemoved() throws IOException {
        startWith(FIRST);
        Files.delete(socket());
        await().atMost(LONG_ENOUGH).until(() -> kubelet.registrationCalls() >= 2 && Files.exists(socket()));
        awaitAllocatable(1);
    }

    @Test
    void takesThePlaceOfAPluginThatWasKilledAndLeavesOtherPluginsAlone() throws IOException {
        kubelet.start();
        leaveSocket(socket());
        Path stranger = leaveSocket(kubelet.devicePluginDirectory().resolve("stranger.sock"));

        devices.publish(List.of(FIRST));
        plugin.start();

        awaitAllocatable(1);
        assertThat(stranger).exists();
    }

    @Test
    void hasTheSameDevicesAfterARestart() throws Exception {
        startWith(FIRST, SECOND);
        ContainerAllocation before = kubelet.allocate(POD, "sidecar", RNIC_RESOURCE, 1);
        List<Device> told = kubelet.devices(RNIC_RESOURCE);
        plugin.close();
        awaitAllocatable(0);

        plugin = new DevicePlugin(new TestConfig(kubelet), devices);
        plugin.start();

        awaitAllocatable(2);
        assertThat(kubelet.devices(RNIC_RESOURCE)).isEqualTo(told);
        assertThat(kubelet.allocate(POD, "sidecar", RNIC_RESOURCE, 1)).isEqualTo(before);
    }

    @Test
    void makesWayForASuccessorAndTakesOverWhenThatEnds() throws IOException {
        startWith(FIRST);
        PublishedDevices others = new PublishedDevices();
        others.publish(List.of(FIRST, SECOND));
        try (DevicePlugin successor = new DevicePlugin(new TestConfig(kubelet), others)) {
            successor.start();
            awaitState(State.SUPERSEDED);
            awaitAllocatable(2);
            assertThat(successor.status().registered()).isTrue();
        }
        awaitState(State.REGISTERED);
        awaitAllocatable(1);
    }

    @Test
    void endsItsStreamsAndRemovesItsSocketWhenItStops() throws IOException {
        startWith(FIRST);
        plugin.close();
        assertThat(plugin.status().state()).isEqualTo(State.STOPPED);
        try (var files = Files.list(kubelet.devicePluginDirectory())) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("kubelet.sock", "kubelet_internal_checkpoint");
        }
        awaitAllocatable(0);
        assertThat(kubelet.capacity(RNIC_RESOURCE)).isEqualTo(1);
    }

    @Test
    void givesTheKubeletTheDevicesThatThePluginPrefers() throws Exception {
        startWith(
                RnicDevice.hardware("0000:3b:01.0", "iwp0", "uverbs0").onNumaNode(0),
                RnicDevice.hardware("0000:af:01.0", "iwp1", "uverbs1").onNumaNode(1),
                RnicDevice.hardware("0000:af:01.1", "iwp2", "uverbs2").onNumaNode(1));

        ContainerAllocation given = kubelet.allocate(POD, "sidecar", RNIC_RESOURCE, 2);

        assertThat(given.deviceIds()).containsExactlyInAnyOrder("0000:af:01.0", "0000:af:01.1");
        assertThat(given.response().getEnvsMap()).containsEntry("SIDEWARP_RNIC_PROVIDER", "hardware");
    }

    @Test
    void refusesADeviceThatCannotBeUsedWithAMessageForThePodsEvents() throws IOException {
        kubelet.start();
        // Has changed, but has not told so yet.
        AtomicReference<RnicDevice> device = new AtomicReference<>(FIRST);
        DeviceInventory silent = new DeviceInventory() {
            @Override
            public Optional<List<RnicDevice>> devices() {
                return Optional.of(List.of(device.get()));
            }

            @Override
            public Subscription onChange(Runnable listener) {
                return () -> {};
            }
        };
        plugin = new DevicePlugin(new TestConfig(kubelet), silent);
        plugin.start();
        awaitAllocatable(1);
        device.set(FIRST.faulty("the link is down"));

        assertThatThrownBy(() -> kubelet.allocate(POD, "sidecar", RNIC_RESOURCE, 1))
                .isInstanceOf(AllocationException.class)
                .hasMessageContaining("FAILED_PRECONDITION")
                .hasMessageContaining("0000:3b:01.0")
                .hasMessageContaining("the link is down");
        // The refusal made it tell.
        awaitAllocatable(0);
    }

    private void startWith(RnicDevice... all) throws IOException {
        kubelet.start();
        devices.publish(List.of(all));
        plugin.start();
        awaitState(State.REGISTERED);
        await().atMost(LONG_ENOUGH).until(() -> kubelet.capacity(RNIC_RESOURCE) == all.length);
    }

    private void awaitState(State state) {
        await().atMost(LONG_ENOUGH).until(() -> plugin.status().state() == state);
    }

    private void awaitAllocatable(int count) {
        await().atMost(LONG_ENOUGH).until(() -> kubelet.allocatable(RNIC_RESOURCE) == count);
    }

    private Path socket() {
        return kubelet.devicePluginDirectory().resolve(DevicePlugin.SOCKET);
    }

    /** Leaves a socket file, as a killed process does. */
    private static Path leaveSocket(Path path) throws IOException {
        try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.bind(UnixDomainSocketAddress.of(path));
        }
        return path;
    }
}
