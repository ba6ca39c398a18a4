// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.NodeCommands;
import io.sidewarp.operator.agent.nic.Nic.SrIov;
import io.sidewarp.operator.agent.nic.Nic.VirtualFunction;
import io.sidewarp.operator.agent.nic.ProvisioningResult.Outcome;
import io.sidewarp.operator.api.v1alpha1.NicSelector;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests virtual functions of a real kernel on an igb NIC (Intel 82576), which can have 7 and has no RDMA. Runs as root
 * in the virtual machine of the end-to-end tests, which emulates this NIC.
 */
final class KernelSriovSuite {

    private static final int TOTAL = 7;

    @TempDir
    private Path directory;

    private final Host host = NodeCommands.host();

    @BeforeEach
    void load() throws IOException, InterruptedException {
        NodeCommands.run("modprobe -a igb igbvf");
    }

    @AfterEach
    void restore() throws IOException {
        apply();
    }

    private Nic nic() throws IOException {
        List<Nic> nics = new NicDiscovery(host).discover().nics();
        assertThat(nics).hasSize(1);
        return nics.getFirst();
    }

    private static NodePolicy policy(Integer virtualFunctions, Integer mtu) {
        NicSelector igb = new NicSelector(List.of("8086"), null, List.of("igb"), null, null);
        return TestPolicies.policy("igb", igb, virtualFunctions, mtu, true);
    }

    private List<ProvisioningResult> apply(NodePolicy... policies) throws IOException {
        OriginalValues originals = OriginalValues.open(directory, host.bootId());
        return new NicProvisioner(host, function -> List.of(), originals)
                .apply(new NicDiscovery(host).discover(), List.of(policies));
    }

    private ProvisioningResult only(NodePolicy... policies) throws IOException {
        List<ProvisioningResult> results = apply(policies);
        assertThat(results).hasSize(1);
        return results.getFirst();
    }

    @Test
    void findsThePhysicalFunction() throws IOException {
        Nic nic = nic();

        assertThat(nic.vendorId()).isEqualTo("8086");
        assertThat(nic.deviceId()).isEqualTo("10c9");
        assertThat(nic.driver()).contains("igb");
        assertThat(nic.interfaces()).hasSize(1);
        assertThat(nic.rdmaDevices()).isEmpty();
        assertThat(nic.sriov()).contains(new SrIov(TOTAL, 0, List.of()));
    }

    @Test
    void makesChangesAndRemovesVirtualFunctions() throws IOException {
        String mtu = "class/net/" + nic().interfaces().getFirst().name() + "/mtu";

        assertThat(only(policy(2, 1400)).outcome()).isEqualTo(Outcome.CHANGED);
        assertThat(nic().virtualFunctions()).hasSize(2).allSatisfy(function -> {
            assertThat(function.deviceId()).isEqualTo("10ca");
            assertThat(function.driver()).contains("igbvf");
            assertThat(function.interfaces()).hasSize(1);
        });
        assertThat(host.read(mtu)).contains("1400");

        assertThat(only(policy(2, 1400)).applied()).hasSize(2);
        assertThat(nic().functionInterfaces())
                .extracting(networkInterface -> networkInterface.mtu().orElseThrow())
                .containsExactly(1400, 1400);
        assertThat(only(policy(2, 1400)).outcome()).isEqualTo(Outcome.UNCHANGED);

        ProvisioningResult more = only(policy(5, null));
        assertThat(more.applied())
                .extracting(Change::toString)
                .endsWith("number of virtual functions from 2 to 0", "number of virtual functions from 0 to 5");
        assertThat(nic().virtualFunctions()).hasSize(5);
        assertThat(host.read(mtu)).as("what no policy wants any more").contains("1500");

        assertThat(only().outcome()).isEqualTo(Outcome.CHANGED);
        assertThat(nic().virtualFunctions()).isEmpty();
        assertThat(apply()).isEmpty();
    }

    @Test
    void leavesTheVirtualFunctionsWhenTheMtuIsRefused() throws IOException {
        only(policy(1, null));
        List<VirtualFunction> before = nic().virtualFunctions();

        // igb takes up to 9216 octets.
        ProvisioningResult result = only(policy(3, 9900));

        assertThat(result.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(result.message().orElseThrow()).contains("MTU", "EINVAL");
        assertThat(nic().virtualFunctions())
                .extracting(VirtualFunction::address)
                .isEqualTo(before.stream().map(VirtualFunction::address).toList());
    }

    @Test
    void refusesMoreThanThereCanBe() throws IOException {
        ProvisioningResult result = only(policy(TOTAL + 1, null));

        assertThat(result.outcome()).isEqualTo(Outcome.UNCHANGED);
        assertThat(result.refusals()).singleElement().asString().contains("the NIC has at most " + TOTAL);
    }
}
