// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.agent.device.PluginStatus;
import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.deviceplugin.DevicePlugin;
import io.sidewarp.operator.agent.deviceplugin.DevicesInUse;
import io.sidewarp.operator.agent.deviceplugin.TestConfig;
import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.host.NodeCommands;
import io.sidewarp.operator.agent.host.RdmaLink;
import io.sidewarp.operator.agent.nic.NicDiscovery;
import io.sidewarp.operator.agent.nic.NicProvisioner;
import io.sidewarp.operator.agent.nic.OriginalValues;
import io.sidewarp.operator.agent.siw.SiwLinks;
import io.sidewarp.operator.api.v1alpha1.Fallback;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.api.v1alpha1.SiwSpec;
import io.sidewarp.operator.api.v1alpha1.SoftwareSpec;
import io.sidewarp.operator.testing.kubelet.PodName;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the release of siw devices of a real kernel that are no longer requested. Either a policy has changed, or
 * Sidewarp is uninstalled, and the controller has withdrawn all requests first. Runs as root in the virtual machine of
 * the end-to-end tests, which has siw. There, the device siw0 on eth0 does not belong to the agent.
 */
final class KernelSiwReleaseSuite {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Path NODES = Path.of("/dev/infiniband");

    /** As the controller writes it before the chart is uninstalled. */
    private static final IwarpNodeSpec NOTHING =
            new IwarpNodeSpec(List.of(), List.of(), new SiwSpec(null, null), new SoftwareSpec(null), null);

    private static final PluginStatus REGISTERED = new PluginStatus(PluginStatus.State.REGISTERED, "");

    @TempDir
    private Path directory;

    private final Host host = NodeCommands.host();
    private final PublishedDevices devices = new PublishedDevices();
    private StandInKubelet kubelet;
    private DevicesInUse inUse;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        NodeCommands.run("ip link add name fast0 type veth peer name fast1; ip link set fast0 up; ip link set fast1 up;"
                + " rdma link add other type siw netdev fast1");
        kubelet = new StandInKubelet(directory.resolve("kubelet")).start();
        inUse = new DevicesInUse(new TestConfig(kubelet));
    }

    @AfterEach
    void stop() throws IOException, InterruptedException {
        inUse.close();
        kubelet.close();
        new SiwLinks(host, SiwLinks.DEFAULT_PREFIX).removeAll();
        NodeCommands.run("rdma link delete other; ip link delete fast0");
    }

    @Test
    void uninstallationRemovesTheAgentsDeviceAndNoOther() throws Exception {
        NodeObserver looker = agent();
        NodeObservation offered = looker.look(siwOn("fast0"), Duration.ZERO);
        assertThat(offered.provider()).contains(ProviderKind.KERNEL_SIW);
        assertThat(offered.devices()).extracting(RnicDevice::id).contains("siw/sidewarp-fast0-0");
        assertThat(links()).containsExactlyInAnyOrder("siw0", "other", "sidewarp-fast0");
        Path verbs =
                Path.of(offered.devices().getFirst().deviceNodes().getFirst()).getFileName();

        NodeObservation released = looker.look(NOTHING, Duration.ZERO);

        assertThat(links()).containsExactlyInAnyOrder("siw0", "other");
        assertThat(NODES.resolve(verbs)).doesNotExist();
        assertThat(released.devices()).isEmpty();
        assertReleased(released);

        assertReleased(looker.look(NOTHING, Duration.ZERO));
        assertThat(links()).containsExactlyInAnyOrder("siw0", "other");
    }

    @Test
    void uninstallationRemovesWhatAnEarlierAgentLeft() throws Exception {
        agent().look(siwOn("fast0"), Duration.ZERO);

        assertReleased(agent().look(NOTHING, Duration.ZERO));

        assertThat(links()).containsExactlyInAnyOrder("siw0", "other");
    }

    @Test
    void aDeviceOfSomebodyElseThatWasOfferedStays() throws Exception {
        NodeObserver looker = agent();
        NodeObservation offered = looker.look(siwOn("eth0"), Duration.ZERO);
        assertThat(offered.devices()).extracting(RnicDevice::id).contains("siw/siw0-0");

        assertReleased(looker.look(NOTHING, Duration.ZERO));

        assertThat(links()).containsExactlyInAnyOrder("siw0", "other");
    }

    @Test
    void aPolicyThatNoLongerAsksForSiwRemovesTheDevice() throws Exception {
        NodeObserver looker = agent();
        looker.look(siwOn("fast0"), Duration.ZERO);

        NodeObservation soft = looker.look(
                new IwarpNodeSpec(
                        List.of(), List.of(Fallback.SOFTWARE), new SiwSpec(null, null), new SoftwareSpec(2), null),
                Duration.ZERO);

        assertThat(soft.provider()).contains(ProviderKind.SOFTWARE);
        assertThat(links()).containsExactlyInAnyOrder("siw0", "other");
    }

    @Test
    void whatAPodUsesIsRemovedWhenThePodIsGone() throws Exception {
        NodeObserver looker = agent();
        devices.publish(looker.look(siwOn("fast0"), Duration.ZERO).devices());
        try (DevicePlugin plugin = new DevicePlugin(new TestConfig(kubelet), devices)) {
            plugin.start();
            Awaitility.await().atMost(PATIENCE).until(() -> kubelet.allocatable(RNIC_RESOURCE) == 1);
            kubelet.allocate(new PodName("shop", "cart"), "sidewarp", RNIC_RESOURCE, 1);

            NodeObservation used = looker.look(NOTHING, Duration.ZERO);
            assertThat(used.waiting()).singleElement().asString().contains("fast0");
            assertThat(links()).contains("sidewarp-fast0");

            kubelet.release(new PodName("shop", "cart"));
            assertReleased(looker.look(NOTHING, Duration.ZERO));
            assertThat(links()).containsExactlyInAnyOrder("siw0", "other");
        }
    }

    /** As the controller wants to see it before it deletes the agents. */
    private static void assertReleased(NodeObservation look) {
        assertThat(look.state(REGISTERED).type()).isEqualTo("Ready");
        assertThat(look.state(REGISTERED).reason()).isEqualTo("NothingToOffer");
    }

    private NodeObserver agent() throws IOException {
        return new NodeObserver(
                new NicProvisioner(
                        host, function -> List.of(), OriginalValues.open(directory.resolve("state"), host.bootId())),
                new NicDiscovery(host),
                new SiwLinks(host, SiwLinks.DEFAULT_PREFIX),
                inUse,
                new AwaitedRdma(Duration.ZERO),
                pod -> false);
    }

    private static IwarpNodeSpec siwOn(String networkInterface) {
        return new IwarpNodeSpec(
                List.of(),
                List.of(Fallback.KERNEL_SIW),
                new SiwSpec(networkInterface, 1),
                new SoftwareSpec(null),
                null);
    }

    private List<String> links() throws HostException {
        return host.rdmaLinks().stream().map(RdmaLink::name).toList();
    }
}
