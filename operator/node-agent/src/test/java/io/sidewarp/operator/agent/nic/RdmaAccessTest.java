// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.agent.host.RecordedHost;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Tests that programs in user space can use the RNICs that a policy selects. */
class RdmaAccessTest extends ProvisionerFixture {
    @Test
    void loadsTheConnectionManagerForAnRnicWhoseDriverLoadsOnlyVerbs() throws IOException {
        RecordedHost host = host("intel-x722");
        PciAddress address = new PciAddress("0000:b5:00.0");
        assertThat(new NicDiscovery(host).discover().nic(address).orElseThrow().closedToUserSpace())
                .isEmpty();
        assertThat(host.exists("class/misc/rdma_cm")).isFalse();

        assertThat(only(apply(host, policy(address, null, null, null))).message())
                .isEmpty();

        assertThat(host.exists("class/misc/rdma_cm")).isTrue();
    }

    @Test
    void letsTheKernelOpenAnRnicToUserSpace() throws IOException {
        RecordedHost host = host("chelsio-t5");
        PciAddress address = new PciAddress("0000:01:00.4");

        assertThat(only(apply(host, policy(address, null, null, true))).message())
                .isEmpty();

        assertThat(new NicDiscovery(host).discover().nic(address).orElseThrow().rdmaDevices())
                .singleElement()
                .satisfies(device -> assertThat(device.uverbs()).contains("uverbs0"));
        assertThat(host.changes()).isEmpty();
    }

    @Test
    void saysThatAnRnicIsThereForTheKernelAlone() throws IOException {
        RecordedHost host = host("chelsio-t5").withoutUserSpaceAccess();

        ProvisioningResult result = only(apply(host, policy(new PciAddress("0000:01:00.4"), null, null, true)));

        assertThat(result.refusals()).hasSize(1);
        assertThat(result.message().orElseThrow()).contains("cxgb4_0", "ib_uverbs");
    }
}
