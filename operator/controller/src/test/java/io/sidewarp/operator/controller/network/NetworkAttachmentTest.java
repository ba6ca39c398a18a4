// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.operator.api.v1alpha1.NetworkSpec;
import org.junit.jupiter.api.Test;

class NetworkAttachmentTest {
    @Test
    void theConfigurationIsThatOfThePluginSriov() {
        assertThat(NetworkAttachment.configuration("e810", new NetworkSpec(null, null), null))
                .isEqualTo("{\"cniVersion\":\"0.3.1\",\"name\":\"e810\",\"type\":\"sriov\"}");
        assertThat(NetworkAttachment.configuration("e810", new NetworkSpec(" {\"type\": \"dhcp\"}", 7), null))
                .isEqualTo("{\"cniVersion\":\"0.3.1\",\"name\":\"e810\",\"type\":\"sriov\",\"vlan\":7,"
                        + "\"ipam\":{\"type\":\"dhcp\"}}");
    }

    @Test
    void theMtuOfAPolicyIsSetByTheTuningPluginBehindTheOther() {
        assertThat(NetworkAttachment.configuration("e810", new NetworkSpec("{\"type\": \"dhcp\"}", 7), 9000))
                .isEqualTo("{\"cniVersion\":\"0.3.1\",\"name\":\"e810\",\"plugins\":["
                        + "{\"type\":\"sriov\",\"vlan\":7,\"ipam\":{\"type\":\"dhcp\"}},"
                        + "{\"type\":\"tuning\",\"mtu\":9000}]}");
    }

    @Test
    void anIpamConfigurationThatIsNoJsonObjectIsRefused() {
        assertThatThrownBy(() -> NetworkAttachment.configuration("e810", new NetworkSpec("{type: dhcp}", null), null))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> NetworkAttachment.configuration("e810", new NetworkSpec("[1]", null), null))
                .hasMessage("it is no JSON object");
    }
}
