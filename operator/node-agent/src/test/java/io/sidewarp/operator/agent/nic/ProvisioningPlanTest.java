// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.host.RecordedHost;
import io.sidewarp.operator.api.v1alpha1.NicSelector;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProvisioningPlanTest {

    @TempDir
    private Path directory;

    private Nic nic(String host, String address) throws HostException {
        return new NicDiscovery(RecordedHost.of(host, directory))
                .discover()
                .nic(new PciAddress(address))
                .orElseThrow();
    }

    private static Optional<NodePolicy> policy(Integer virtualFunctions, Integer mtu, Boolean iwarp) {
        NicSelector any = TestPolicies.address("0000:00:00.0");
        return Optional.of(TestPolicies.policy("fast", any, virtualFunctions, mtu, iwarp));
    }

    private static NodePolicy ofSriovNetworkOperator(String address, int virtualFunctions, int mtu, boolean iwarp) {
        return new NodePolicy(
                "fast",
                1L,
                TestPolicies.address(address),
                ProvisionedBy.SRIOV_NETWORK_OPERATOR,
                virtualFunctions,
                mtu,
                iwarp,
                null,
                null);
    }

    private static Map<NicAttribute, Integer> originals(String text) {
        return text == null
                ? Map.of()
                : Arrays.stream(text.split(" ", -1))
                        .map(entry -> entry.split("=", -1))
                        .collect(Collectors.toMap(
                                entry -> NicAttribute.ofKey(entry[0]).orElseThrow(),
                                entry -> Integer.valueOf(entry[1])));
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", delimiter = '|', textBlock = """
            # host        | address      | VFs | MTU  | iWARP | originals               | changes
            intel-e810    | 0000:18:00.0 | -   | -    | -     | -                       | -
            intel-e810    | 0000:18:00.0 | 0   | 1500 | false | -                       | -
            intel-e810    | 0000:18:00.0 | 4   | -    | -     | -                       | number of virtual functions from 0 to 4
            intel-e810    | 0000:18:00.0 | 4   | 9000 | true  | -                       | enable_roce from true to false; enable_iwarp from false to true; MTU of ens1f0 from 1500 to 9000; number of virtual functions from 0 to 4
            intel-e810    | 0000:18:00.0 | 128 | -    | -     | -                       | number of virtual functions from 0 to 128
            intel-e810    | 0000:18:00.1 | 2   | 9000 | true  | -                       | -
            intel-e810    | 0000:18:00.1 | 0   | -    | -     | -                       | number of virtual functions from 2 to 0
            intel-e810    | 0000:18:00.1 | 3   | -    | -     | -                       | number of virtual functions from 2 to 0; number of virtual functions from 0 to 3
            intel-e810    | 0000:18:00.1 | -   | -    | false | -                       | enable_iwarp from true to false
            # What the agent changed before and no policy wants any more becomes what it was.
            intel-e810    | 0000:18:00.1 | -   | -    | -     | enableIwarp=0 enableRoce=1 mtu/ens1f1=1500 virtualFunctions=0 | enable_iwarp from true to false; enable_roce from false to true; MTU of ens1f1 from 9000 to 1500; number of virtual functions from 2 to 0
            intel-e810    | 0000:18:00.1 | 2   | -    | true  | enableIwarp=0 enableRoce=1 mtu/ens1f1=1500 virtualFunctions=0 | MTU of ens1f1 from 9000 to 1500
            intel-e810    | 0000:18:00.1 | -   | 9000 | -     | mtu/gone0=1500          | -
            # What cannot be had is left as it is.
            intel-e810    | 0000:18:00.1 | 129 | 1500 | -     | virtualFunctions=0      | MTU of ens1f1 from 9000 to 1500
            chelsio-t6    | 0000:03:00.4 | 4   | 9000 | true  | -                       | MTU of enp3s0f4 from 1500 to 9000; MTU of enp3s0f4d1 from 1500 to 9000
            chelsio-t6    | 0000:03:00.0 | 4   | 9000 | true  | -                       | number of virtual functions from 0 to 4
            intel-x722    | 0000:b5:00.0 | 4   | -    | true  | -                       | number of virtual functions from 0 to 4
            mellanox-connectx5 | 0000:5e:00.0 | 4 | 9000 | true | -                     | -
            """)
    void listsOnlyWhatDiffersInAnOrderThatTheKernelTakes(
            String host,
            String address,
            Integer virtualFunctions,
            Integer mtu,
            Boolean iwarp,
            String originals,
            String changes)
            throws HostException {
        ProvisioningPlan plan =
                ProvisioningPlan.of(nic(host, address), policy(virtualFunctions, mtu, iwarp), originals(originals));

        assertThat(plan.changes().stream().map(Change::toString).collect(Collectors.joining("; ")))
                .isEqualTo(changes == null ? "" : changes);
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", delimiter = '|', textBlock = """
            # VFs | MTU  | originals                                  | MTUs of virtual functions             | remembered
            2     | 9000 | -                                          | MTU of ens1f1v0 from 1500 to 9000     | functionMtu/ens1f1v0
            2     | 1500 | -                                          | -                                     | mtu/ens1f1
            2     | -    | functionMtu/ens1f1v0=1400                  | MTU of ens1f1v0 from 1500 to 1400     | -
            # The interface is in a pod.
            2     | -    | functionMtu/ens1f1v1=1400                  | -                                     | functionMtu/ens1f1v1
            # New virtual functions have new interfaces.
            3     | 9000 | functionMtu/ens1f1v0=1400                  | -                                     | virtualFunctions
            """)
    void virtualFunctionsGetTheMtuOfTheirNic(
            int virtualFunctions, Integer mtu, String originals, String changes, String remembered)
            throws HostException {
        ProvisioningPlan plan = ProvisioningPlan.of(
                nic("intel-e810", "0000:18:00.1"), policy(virtualFunctions, mtu, null), originals(originals));

        assertThat(plan.functionMtus().stream().map(Change::toString).collect(Collectors.joining("; ")))
                .isEqualTo(changes == null ? "" : changes);
        assertThat(plan.remembered().stream().map(NicAttribute::key).collect(Collectors.joining(" ")))
                .isEqualTo(remembered == null ? "" : remembered);
    }

    @Test
    void leavesAndForgetsWhatSomebodyElseProvides() throws HostException {
        NodePolicy policy = ofSriovNetworkOperator("0000:18:00.1", 8, 1500, false);

        ProvisioningPlan plan = ProvisioningPlan.of(
                nic("intel-e810", "0000:18:00.1"),
                Optional.of(policy),
                originals("mtu/ens1f1=1500 virtualFunctions=0"));

        assertThat(plan.changes()).extracting(Change::toString).containsExactly("enable_iwarp from true to false");
        assertThat(plan.remembered()).containsExactly(NicAttribute.IWARP);
    }

    @ParameterizedTest
    @CsvSource({
        "intel-e810, 0000:18:00.0, 129, the NIC has at most 128",
        "chelsio-t6, 0000:03:00.4, 1, the NIC has no SR-IOV",
        "mellanox-connectx5, 0000:5e:00.0, 1, does not speak iWARP",
        "mellanox-connectx5, 0000:5e:00.0, 0, does not speak iWARP"
    })
    void saysWhatCannotBeHadAndWhichPolicyWantsIt(String host, String address, int virtualFunctions, String reason)
            throws HostException {
        List<String> refusals = ProvisioningPlan.of(nic(host, address), policy(virtualFunctions, null, true), Map.of())
                .refusals();

        assertThat(refusals).singleElement().asString().contains("policy fast", reason);
    }

    @Test
    void withoutADriverThereAreNoVirtualFunctions() throws HostException {
        Nic bound = nic("intel-e810", "0000:18:00.0");
        Nic unbound = new Nic(
                bound.address(),
                bound.vendorId(),
                bound.deviceId(),
                Optional.empty(),
                bound.numaNode(),
                List.of(),
                List.of(),
                bound.sriov(),
                Optional.empty(),
                Optional.empty(),
                List.of());

        ProvisioningPlan plan = ProvisioningPlan.of(unbound, policy(4, 9000, true), Map.of());

        assertThat(plan.changes()).isEmpty();
        assertThat(plan.refusals()).singleElement().asString().contains("no driver is bound to the NIC");
    }

    @Test
    void remembersOriginalsUntilTheyAreWhatIsWanted() throws HostException {
        Nic nic = nic("intel-e810", "0000:18:00.1");
        Map<NicAttribute, Integer> originals = originals("mtu/ens1f1=1500 virtualFunctions=0 enableRoce=0");

        assertThat(ProvisioningPlan.of(nic, policy(2, 9000, true), originals).remembered())
                .containsExactlyInAnyOrder(
                        NicAttribute.mtu("ens1f1"),
                        NicAttribute.functionMtu("ens1f1v0"),
                        NicAttribute.VIRTUAL_FUNCTIONS);
        assertThat(ProvisioningPlan.of(nic, policy(2, 1500, true), originals).remembered())
                .containsExactly(NicAttribute.VIRTUAL_FUNCTIONS);
        assertThat(ProvisioningPlan.of(nic, policy(129, 1500, true), originals).remembered())
                .containsExactly(NicAttribute.VIRTUAL_FUNCTIONS);
        assertThat(ProvisioningPlan.of(nic, Optional.empty(), originals).remembered())
                .isEmpty();
    }

    @Test
    void remembersOriginalsOfWhatCannotBeSeenNow() throws HostException {
        Nic nic = nic("intel-x722", "0000:b5:00.0");
        Map<NicAttribute, Integer> originals = originals("mtu/away0=1500 enableIwarp=0 virtualFunctions=0");
        NodePolicy ofOthers = ofSriovNetworkOperator("0000:b5:00.0", 4, 9000, true);

        assertThat(ProvisioningPlan.of(nic, policy(0, 9000, true), originals).remembered())
                .contains(NicAttribute.mtu("away0"), NicAttribute.IWARP)
                .doesNotContain(NicAttribute.VIRTUAL_FUNCTIONS);
        assertThat(ProvisioningPlan.of(nic, Optional.empty(), originals).remembered())
                .containsExactlyInAnyOrder(NicAttribute.mtu("away0"), NicAttribute.IWARP);
        assertThat(ProvisioningPlan.of(nic, Optional.of(ofOthers), originals).remembered())
                .containsExactly(NicAttribute.IWARP);
    }
}
