// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;
import static org.awaitility.Awaitility.await;

import io.sidewarp.operator.agent.device.PluginStatus;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.deviceplugin.DevicePlugin;
import io.sidewarp.operator.agent.deviceplugin.TestConfig;
import io.sidewarp.operator.agent.host.Errno;
import io.sidewarp.operator.agent.host.RecordedHost;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.VirtualFunctionUse;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import io.sidewarp.operator.api.v1alpha1.VirtualFunctionStatus;
import io.sidewarp.operator.testing.kubelet.PodName;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NodeObserverTest extends NodeObserverFixture {
    private static final String ONE_FUNCTION =
            "policies: [{name: p, nicSelector: {pciAddresses: ['0000:18:00.1']}, virtualFunctions: 1}], fallback: [Software]";
    private static final String CHELSIO = "policies: [{name: p, nicSelector: {vendors: ['1425']}}]";

    private final Set<PciAddress> withheld = new HashSet<>();

    @Test
    void offersTheNicsThatPoliciesSelectAndNoOthers() throws Exception {
        RecordedHost host = host("chelsio-t6");

        NodeObservation selected = looker(host, none()).look(spec(CHELSIO + ", fallback: [Software]"), NOW);
        NodeObservation unselected =
                looker(host, none()).look(spec("policies: [], fallback: [Software], software: {devices: 2}"), NOW);

        assertThat(selected.provider()).contains(ProviderKind.HARDWARE);
        assertThat(selected.devices()).extracting(RnicDevice::id).containsExactly("0000:03:00.4");
        assertThat(selected.nics()).extracting(NicStatus::policy).containsOnly("p");
        assertThat(unselected.provider()).contains(ProviderKind.SOFTWARE);
        assertThat(unselected.devices()).extracting(RnicDevice::id).containsExactly("soft-0", "soft-1");
        assertThat(unselected.nics()).extracting(NicStatus::policy).containsOnlyNulls();
        assertThat(host.changes()).isEmpty();
    }

    @Test
    void aNicWhoseDriverDoesNotAnswerKeepsNoOtherFromBeingOffered() throws Exception {
        RecordedHost host = host("intel-e810").unreadable("0000:18:00.0", Optional.of(Errno.EIO));
        String selector =
                "policies: [{name: p, nicSelector: {vendors: ['8086']}, enableIwarp: true}], fallback: [Software]";

        NodeObservation other = looker(host, none()).look(spec(ONE_FUNCTION.replace(", virtualFunctions: 1", "")), NOW);
        NodeObservation soft = looker(host, none()).look(spec("policies: [], fallback: [Software]"), NOW);
        NodeObservation both = looker(host, none()).look(spec(selector), NOW);

        assertThat(other.devices()).extracting(RnicDevice::id).containsExactly("0000:18:00.1");
        assertThat(holding(other, REGISTERED)).isEqualTo("Ready HardwareOffered");
        assertThat(holding(soft, REGISTERED)).isEqualTo("Ready SoftwareOffered");
        assertThat(both.devices()).extracting(RnicDevice::id).containsExactly("0000:18:00.1");
        assertThat(holding(both, REGISTERED)).isEqualTo("Degraded ProvisioningFailed");
        assertThat(both.nics().getFirst().message()).contains("enable_iwarp", "EIO");
    }

    @Test
    void offersNothingWhereNothingIsAllowed() throws Exception {
        NodeObservation look = looker(host("virtio"), none()).look(spec("fallback: []"), NOW);

        assertThat(look.devices()).isEmpty();
        assertThat(holding(look, REGISTERED)).isEqualTo("Ready NothingToOffer");
        // Nor need there be a policy: what unselected nodes offer is a value of the chart.
        assertThat(look.state(REGISTERED).message())
                .isEqualTo("no NIC is selected and usable, and there is no fallback");
    }

    @Test
    void isNotReadyBeforeTheKubeletKnowsTheDevices() throws Exception {
        NodeObservation look = looker(host("virtio"), none()).look(spec("fallback: [Software]"), NOW);
        PluginStatus waiting = new PluginStatus(PluginStatus.State.WAITING_FOR_KUBELET, "no kubelet");

        assertThat(holding(look, waiting)).isEqualTo("Progressing WaitingForKubelet");
        assertThat(look.nodeState(waiting)).isEqualTo(ProvisioningState.WAITING);
        assertThat(look.nodeState(REGISTERED)).isEqualTo(ProvisioningState.DONE);
        assertThat(look.isWaiting(waiting)).isTrue();
        assertThat(look.isWaiting(REGISTERED)).isFalse();
    }

    @Test
    void waitsForPodsAndIsDegradedWhenThatTakesTooLong() throws Exception {
        RecordedHost host = host("intel-x722");
        String four = "policies: [{name: p, nicSelector: {pciAddresses: ['0000:b5:00.0']}, virtualFunctions: 4,"
                + " drain: {timeoutSeconds: 60}}]";
        looker(host, none()).look(spec(four), NOW);
        NodeObserver looker = looker(host, function -> List.of("shop/cart"));
        IwarpNodeSpec two = spec(four.replace("virtualFunctions: 4", "virtualFunctions: 2"));

        NodeObservation first = looker.look(two, NOW);
        NodeObservation later = looker.look(two, NOW.plusSeconds(61));

        assertThat(holding(first, REGISTERED)).isEqualTo("Progressing WaitingForPods");
        assertThat(first.waiting()).singleElement().asString().contains("shop/cart");
        assertThat(holding(later, REGISTERED)).isEqualTo("Degraded ProvisioningFailed");
        assertThat(host.read("bus/pci/devices/0000:b5:00.0/sriov_numvfs")).contains("4");
    }

    /** This status tells the controller that a deleted policy has to wait. */
    @Test
    void tellsOfANicThatCannotBeRestoredYet() throws Exception {
        RecordedHost host = host("intel-x722");
        looker(host, none())
                .look(
                        spec(
                                "policies: [{name: p, nicSelector: {pciAddresses: ['0000:b5:00.0']}, virtualFunctions: 1}]"),
                        NOW);

        NodeObservation used = looker(host, function -> List.of("shop/cart")).look(spec("fallback: []"), NOW);

        assertThat(holding(used, REGISTERED)).isEqualTo("Progressing WaitingForPods");
        assertThat(used.nics())
                .filteredOn(nic -> nic.message() != null)
                .singleElement()
                .satisfies(nic -> {
                    assertThat(nic.pciAddress()).isEqualTo("0000:b5:00.0");
                    assertThat(nic.policy()).isNull();
                    assertThat(nic.state()).isEqualTo(ProvisioningState.WAITING);
                    assertThat(nic.message()).contains("shop/cart");
                });

        NodeObservation free = looker(host, none()).look(spec("fallback: []"), NOW);

        assertThat(free.nics()).extracting(NicStatus::message).containsOnlyNulls();
        assertThat(host.read("bus/pci/devices/0000:b5:00.0/sriov_numvfs")).contains("0");
    }

    @Test
    void asksForEvictionsOnlyOfPodsThatUseFunctionsWhichChange() throws Exception {
        RecordedHost host = host("intel-x722");
        String policies = "policies: [{name: p, nicSelector: {pciAddresses: ['0000:b5:00.0']}, virtualFunctions: %d,"
                + " drain: {enabled: %s}}, {name: q, nicSelector: {pciAddresses: ['0000:b5:00.1']}, virtualFunctions: 1,"
                + " drain: {enabled: true}}]";
        looker(host, none()).look(spec(policies.formatted(2, "false")), NOW);
        NodeObserver looker =
                looker(host, function -> List.of("shop/pod-" + function.value().replace(':', '-')));

        NodeObservation kept = looker.look(spec(policies.formatted(1, "false")), NOW);
        assertThat(kept.waiting())
                .singleElement()
                .asString()
                .contains("shop/pod-0000-b5-02.0", "shop/pod-0000-b5-02.1");
        assertThat(kept.evictions()).isEmpty();

        NodeObservation drained = looker.look(spec(policies.formatted(1, "true")), NOW);

        assertThat(drained.evictions())
                .containsExactly(
                        new NicDrain.Request("shop", "pod-0000-b5-02.0", "0000:b5:00.0"),
                        new NicDrain.Request("shop", "pod-0000-b5-02.1", "0000:b5:00.0"));
    }

    @Test
    void offersNoFunctionThatPodsAreEvictedFromUntilItHasChanged() throws Exception {
        RecordedHost host = host("intel-e810");
        String policy = "policies: [{name: p, nicSelector: {pciAddresses: ['0000:18:00.1']}, enableIwarp: false,"
                + " drain: {enabled: %s}}]";
        VirtualFunctionUse use = new VirtualFunctionUse() {
            @Override
            public List<String> users(PciAddress function) {
                return List.of("shop/cart");
            }

            @Override
            public void withhold(Set<PciAddress> functions) {
                withheld.addAll(functions);
            }
        };
        NodeObserver looker = looker(host, use);

        NodeObservation kept = looker.look(spec(policy.formatted("false")), NOW);
        assertThat(kept.devices())
                .singleElement()
                .satisfies(device -> assertThat(device.healthy()).isTrue());
        assertThat(withheld).isEmpty();

        NodeObservation drained = looker.look(spec(policy.formatted("true")), NOW);
        assertThat(drained.evictions()).containsExactly(new NicDrain.Request("shop", "cart", "0000:18:00.1"));
        assertThat(withheld).extracting(PciAddress::value).contains("0000:18:00.1");
        assertThat(drained.devices())
                .singleElement()
                .satisfies(device ->
                        assertThat(device.fault()).contains("it has to change, and waits for pods to leave ens1f1"));
    }

    @Test
    void isNotDoneWhileInterfacesOfVirtualFunctionsDoNotHaveTheMtu() throws Exception {
        RecordedHost host = host("intel-e810");
        NodeObserver looker = looker(host, none());
        IwarpNodeSpec jumbo = spec(ONE_FUNCTION.replace("virtualFunctions: 1", "virtualFunctions: 1, mtu: 9000"));

        NodeObservation made = looker.look(jumbo, NOW);
        assertThat(messageOfNic(made)).isEqualTo("The MTU is not 9000 yet on ens1f1v0 (1500)");
        assertThat(made.nics().getLast().state()).isEqualTo(ProvisioningState.WAITING);
        assertThat(made.isWaiting(REGISTERED)).isTrue();

        host.addRdmaDevice("0000:18:11.0", "iwp24s0f1v0");
        NodeObservation complete = looker.look(jumbo, NOW.plusSeconds(2));
        assertThat(host.read("class/net/ens1f1v0/mtu")).contains("9000");
        assertThat(complete.nics().getLast().state()).isEqualTo(ProvisioningState.DONE);
        assertThat(holding(complete, REGISTERED)).isEqualTo("Ready HardwareOffered");
    }

    @Test
    void isDegradedWhileAVirtualFunctionDoesNotTakeTheMtu() throws Exception {
        RecordedHost host = host("intel-e810");
        NodeObserver looker = looker(host, none());
        String jumbo = ONE_FUNCTION.replace("virtualFunctions: 1", "virtualFunctions: 2, mtu: 9000");
        host.ignore(1);

        NodeObservation refused = looker.look(spec(jumbo), NOW);
        assertThat(holding(refused, REGISTERED)).isEqualTo("Degraded ProvisioningFailed");
        assertThat(messageOfNic(refused)).contains("MTU of ens1f1v0 from 1500 to 9000", "read back as 1500");

        NodeObservation done = looker.look(spec(jumbo), NOW);
        assertThat(holding(done, REGISTERED)).isEqualTo("Ready HardwareOffered");
    }

    @Test
    void namesVirtualFunctionsInPodsWhoseMtuItCannotSet() throws Exception {
        RecordedHost host = host("intel-e810");
        devices.publish(List.of(RnicDevice.hardware("0000:18:11.1", "iwp1", "uverbs9")));
        try (DevicePlugin plugin = new DevicePlugin(new TestConfig(kubelet), devices)) {
            plugin.start();
            await().atMost(LONG_ENOUGH).until(() -> kubelet.allocatable(RNIC_RESOURCE) == 1);
            kubelet.allocate(new PodName("shop", "cart"), "sidewarp", RNIC_RESOURCE, 1);

            NodeObservation look = looker(host, none())
                    .look(spec(ONE_FUNCTION.replace("virtualFunctions: 1", "virtualFunctions: 2, mtu: 9000")), NOW);

            assertThat(look.nics().getLast().state()).isEqualTo(ProvisioningState.DONE);
            assertThat(messageOfNic(look))
                    .isEqualTo("The agent cannot set the MTU of virtual functions that are in pods:"
                            + " 0000:18:11.1 (shop/cart)");
        }
    }

    @Test
    void offersNoHealthyRnicWithoutTheConnectionManager() throws Exception {
        RecordedHost host = host("intel-x722").withoutUserSpaceAccess();

        NodeObservation look = looker(host, none())
                .look(spec("policies: [{name: p, nicSelector: {pciAddresses: ['0000:b5:00.0']}}]"), NOW);

        assertThat(look.devices())
                .singleElement()
                .satisfies(device -> assertThat(device.fault().orElseThrow())
                        .contains("/dev/infiniband/rdma_cm", "load the module rdma_ucm"));
        assertThat(holding(look, REGISTERED)).isEqualTo("Degraded ProvisioningFailed");
        assertThat(look.failed()).singleElement().asString().contains("ib_uverbs and rdma_ucm");
    }

    @Test
    void tellsWhatANicRefuses() throws Exception {
        NodeObservation look = looker(host("intel-x722"), none())
                .look(
                        spec(
                                "policies: [{name: p, nicSelector: {pciAddresses: ['0000:b5:00.0']}, virtualFunctions: 100}],"
                                        + " fallback: [Software]"),
                        NOW);

        assertThat(holding(look, REGISTERED)).isEqualTo("Degraded ProvisioningFailed");
        assertThat(look.nics())
                .filteredOn(nic -> nic.pciAddress().equals("0000:b5:00.0"))
                .singleElement()
                .satisfies(nic -> assertThat(nic.message()).contains("Refused"));
    }

    @Test
    void tellsWhyADeviceCannotBeUsed() throws Exception {
        NodeObservation look = looker(host("intel-x722"), none())
                .look(spec("policies: [{name: p, nicSelector: {vendors: ['8086']}}]"), NOW);

        assertThat(message(look)).isEqualTo("1 of 2 devices can be used");
        assertThat(look.nics())
                .extracting(NicStatus::name, NicStatus::state, NicStatus::message)
                .containsExactly(
                        tuple("eno1", ProvisioningState.DONE, null),
                        tuple("eno2", ProvisioningState.DONE, "Cannot be used: no port of iwp181s0f1 is active"));
        assertThat(look.nodeState(REGISTERED)).isEqualTo(ProvisioningState.DONE);
    }

    /** This status tells the controller which policies are not carried out. */
    @Test
    void tellsOfEachNicHowFarItIsWhatItsPolicyAsksFor() throws Exception {
        String policy = "policies: [{name: p, nicSelector: {pciAddresses: ['0000:18:00.1']}, virtualFunctions: 1},"
                + " {name: q, nicSelector: {pciAddresses: ['0000:18:00.0']}, virtualFunctions: %d}]";
        RecordedHost host = host("intel-e810");

        NodeObservation awaited = looker(host, none()).look(spec(policy.formatted(0)), NOW);
        NodeObservation refused = looker(host, none()).look(spec(policy.formatted(10_000)), NOW);

        assertThat(awaited.nics())
                .extracting(NicStatus::policy, NicStatus::state)
                .containsExactly(tuple("q", ProvisioningState.DONE), tuple("p", ProvisioningState.WAITING));
        assertThat(refused.nics())
                .extracting(NicStatus::policy, NicStatus::state)
                .containsExactly(tuple("q", ProvisioningState.FAILED), tuple("p", ProvisioningState.DONE));
        assertThat(refused.nodeState(REGISTERED)).isEqualTo(ProvisioningState.DONE);
    }

    @Test
    void whatTheNodeWaitsForIsWhatItsNicsSay() throws Exception {
        String policy =
                "policies: [{name: p, nicSelector: {pciAddresses: ['%s']}, virtualFunctions: %d, provisionedBy: %s}]";

        NodeObservation refused =
                looker(host("intel-x722"), none()).look(spec(policy.formatted("0000:b5:00.0", 100, "NodeAgent")), NOW);
        assertThat(message(refused)).isEqualTo("0000:b5:00.0: " + messageOfNic(refused));

        RecordedHost host = RecordedHost.of("intel-e810", directory.resolve("other"));
        NodeObservation missing =
                looker(host, none()).look(spec(policy.formatted("0000:18:00.1", 4, "SriovNetworkOperator")), NOW);
        assertThat(message(missing)).startsWith("ens1f1 has 2 of 4").isEqualTo(messageOfNic(missing));

        NodeObservation awaited =
                looker(host, none()).look(spec(policy.formatted("0000:18:00.1", 1, "NodeAgent")), NOW);
        assertThat(message(awaited)).startsWith("ens1f1 has 0 of 1").isEqualTo(messageOfNic(awaited));
    }

    private static String message(NodeObservation look) {
        return look.state(REGISTERED).message();
    }

    private static String messageOfNic(NodeObservation look) {
        return look.nics().stream()
                .map(NicStatus::message)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse("none");
    }

    @Test
    void leavesVirtualFunctionsToTheSriovNetworkOperatorAndDoesNotOfferThem() throws Exception {
        RecordedHost host = host("intel-e810");
        String policy =
                "policies: [{name: p, nicSelector: {pciAddresses: ['0000:18:00.1']}, virtualFunctions: %d, mtu: 1500,"
                        + " enableIwarp: true, provisionedBy: SriovNetworkOperator}], fallback: [Software], software: {devices: 5}";

        NodeObservation made = looker(host, none()).look(spec(policy.formatted(2)), NOW);
        NodeObservation missing = looker(host, none()).look(spec(policy.formatted(4)), NOW);

        assertThat(host.changes()).isEmpty();
        // RDMA of this NIC is with the physical function, which that operator does not offer.
        assertThat(made.devices()).extracting(RnicDevice::id).containsExactly("0000:18:00.1");
        assertThat(holding(made, REGISTERED)).isEqualTo("Ready HardwareOffered");
        assertThat(missing.provider()).contains(ProviderKind.SOFTWARE);
        assertThat(holding(missing, REGISTERED)).isEqualTo("Progressing WaitingForVirtualFunctions");
        assertThat(missing.missing()).singleElement().asString().contains("ens1f1 has 2 of 4 virtual functions");
        assertThat(missing.isWaiting(REGISTERED)).isTrue();
    }

    @Test
    void waitsForTheRdmaDevicesOfFunctionsThatItMadeAndOffersNeitherTheNicNorAFallback() throws Exception {
        RecordedHost host = host("intel-e810");
        NodeObserver looker = looker(host, none());
        IwarpNodeSpec one = spec(ONE_FUNCTION);

        NodeObservation made = looker.look(one, NOW);
        assertThat(made.devices()).isEmpty();
        assertThat(made.provider()).isEmpty();
        assertThat(made.awaited())
                .containsExactly("ens1f1 has 0 of 1 RDMA devices that its driver may make after the change");
        assertThat(holding(made, REGISTERED)).isEqualTo("Progressing WaitingForRdma");
        assertThat(made.isWaiting(REGISTERED)).isTrue();

        host.addRdmaDevice("0000:18:11.0", "iwp24s0f1v0");
        NodeObservation complete = looker.look(one, NOW.plusSeconds(4));
        assertThat(complete.devices()).extracting(RnicDevice::id).containsExactly("0000:18:11.0");
        assertThat(holding(complete, REGISTERED)).isEqualTo("Ready HardwareOffered");
        assertThat(complete.isWaiting(REGISTERED)).isFalse();
    }

    @Test
    void offersTheNicWhenItsFunctionsGetNoRdmaDevicesInTime() throws Exception {
        NodeObserver looker = looker(host("intel-e810"), none());
        IwarpNodeSpec one = spec(ONE_FUNCTION);
        looker.look(one, NOW);

        NodeObservation early = looker.look(one, NOW.plus(PATIENCE).minusMillis(1));
        NodeObservation late = looker.look(one, NOW.plus(PATIENCE));

        assertThat(early.devices()).isEmpty();
        assertThat(late.devices()).extracting(RnicDevice::id).containsExactly("0000:18:00.1");
        assertThat(holding(late, REGISTERED)).isEqualTo("Ready HardwareOffered");
    }

    @Test
    void waitsForRdmaDevicesAnewWithEachThatComesAndOffersThoseThatAreThere() throws Exception {
        RecordedHost host = host("intel-e810");
        NodeObserver looker = looker(host, none());
        IwarpNodeSpec three = spec(ONE_FUNCTION.replace("virtualFunctions: 1", "virtualFunctions: 3"));
        looker.look(three, NOW);
        host.addRdmaDevice("0000:18:11.1", "iwp24s0f1v1");

        NodeObservation second = looker.look(three, NOW.plusSeconds(14));
        NodeObservation third = looker.look(three, NOW.plusSeconds(28));
        NodeObservation last = looker.look(three, NOW.plusSeconds(29));

        assertThat(second.devices()).extracting(RnicDevice::id).containsExactly("0000:18:11.1");
        assertThat(holding(third, REGISTERED)).isEqualTo("Progressing WaitingForRdma");
        assertThat(holding(last, REGISTERED)).isEqualTo("Ready HardwareOffered");
        assertThat(last.devices()).extracting(RnicDevice::id).containsExactly("0000:18:11.1");
    }

    @Test
    void keepsAFunctionWhoseRdmaDeviceIsInItsPodAndDoesNotOfferTheNic() throws Exception {
        RecordedHost host = host("intel-e810");
        NodeObserver looker = looker(host, none());
        IwarpNodeSpec one = spec(ONE_FUNCTION);
        looker.look(one, NOW);
        host.addRdmaDevice("0000:18:11.0", "iwp24s0f1v0");
        devices.publish(looker.look(one, NOW).devices());
        try (DevicePlugin plugin = new DevicePlugin(new TestConfig(kubelet), devices)) {
            plugin.start();
            await().atMost(LONG_ENOUGH).until(() -> kubelet.allocatable(RNIC_RESOURCE) == 1);
            kubelet.allocate(new PodName("shop", "cart"), "sidewarp", RNIC_RESOURCE, 1);
            host.moveAway("0000:18:11.0", "iwp24s0f1v0");

            // A new agent, which has never seen the RDMA device.
            for (NodeObserver each : List.of(looker, looker(host, none()))) {
                NodeObservation used = each.look(one, NOW);
                assertThat(used.devices()).singleElement().satisfies(device -> {
                    assertThat(device.id()).isEqualTo("0000:18:11.0");
                    assertThat(device.healthy()).isTrue();
                });
                assertThat(holding(used, REGISTERED)).isEqualTo("Ready HardwareOffered");
                assertThat(used.nics().getLast().virtualFunctions())
                        .extracting(VirtualFunctionStatus::rdmaDevice)
                        .containsExactly("iwp24s0f1v0");
            }
        }
    }
}
