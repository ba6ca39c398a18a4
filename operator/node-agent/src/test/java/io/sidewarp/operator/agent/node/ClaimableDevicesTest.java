// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClaimableDevicesTest {

    private static final List<NicStatus> NICS =
            List.of(nic("0000:3b:00.0", "0000:3b:01.0", "claimed"), nic("0000:5e:00.0", "0000:5e:01.0", "attached"));

    @Test
    void devicesOfAPolicyCanStayWithTheDevicePlugin() {
        ClaimableDevices claimable = new ClaimableDevices(
                spec("resourceClaims: true, policies: [{name: claimed}, {name: attached, devicePlugin: true}]"), NICS);

        assertThat(claimable.test(function("0000:3b:01.0"))).isTrue();
        assertThat(claimable.test(function("0000:5e:01.0"))).isFalse();
        assertThat(claimable.test(function("0000:5e:00.0"))).isFalse();
        assertThat(claimable.test(RnicDevice.soft(0))).isTrue();
    }

    @Test
    void nothingIsForClaimsUnlessTheSpecificationSaysSo() {
        ClaimableDevices claimable = new ClaimableDevices(spec("policies: [{name: claimed}]"), NICS);

        assertThat(claimable.test(function("0000:3b:01.0"))).isFalse();
        assertThat(claimable.test(RnicDevice.soft(0))).isFalse();
    }

    private static RnicDevice function(String address) {
        return RnicDevice.hardware(address, "iwp0", "uverbs0");
    }

    private static IwarpNodeSpec spec(String yaml) {
        return Serialization.unmarshal("---\n{" + yaml + "}", IwarpNodeSpec.class);
    }

    private static NicStatus nic(String address, String function, String policy) {
        return Serialization.unmarshal(
                "---\n{name: eth0, pciAddress: '" + address + "', policy: " + policy
                        + ", virtualFunctions: [{index: 0, pciAddress: '" + function + "'}]}",
                NicStatus.class);
    }
}
