// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.TestPods.decide;
import static io.sidewarp.operator.controller.injection.TestPods.pod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodNetworkTest {
    private static final PodNetwork NETWORK = new PodNetwork("default", "e810", "openshift.io/sidewarp_e810");

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", quoteCharacter = '"', textBlock = """
            # present | times | expected
            - | 1 | default/e810
            - | 2 | default/e810,default/e810
            "" | 1 | default/e810
            macvlan | 1 | macvlan,default/e810
            macvlan@net1, default/e810@rdma0 | 1 | macvlan@net1,default/e810@rdma0
            default/e810 | 2 | default/e810,default/e810
            e810 | 1 | e810,default/e810
            default/e810,default/e810 | 1 | default/e810,default/e810
            [] | 1 | [{'name':'e810','namespace':'default'}]
            [{'name':'e810','namespace':'default','ips':['192.0.2.1/24']}] | 1 | [{'name':'e810','namespace':'default','ips':['192.0.2.1/24']}]
            [{'name':'e810'}] | 1 | [{'name':'e810'},{'name':'e810','namespace':'default'}]
            """)
    void addsWhatIsMissingAndKeepsWhatIsThere(String present, int times, String expected) {
        String quoted = present == null ? null : present.replace('\'', '"');

        String once = NETWORK.addTo(quoted, "shop", times);

        assertThat(once).isEqualTo(expected.replace('\'', '"'));
        assertThat(NETWORK.addTo(once, "shop", times)).as("again").isEqualTo(once);
    }

    /** Multus reads names with a dot in JSON only. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", quoteCharacter = '"', textBlock = """
            # present | times | expected
            - | 1 | [{'name':'intel.e810','namespace':'default'}]
            " , " | 2 | [{'name':'intel.e810','namespace':'default'},{'name':'intel.e810','namespace':'default'}]
            macvlan@net1, storage/a | 1 | [{'name':'macvlan','interface':'net1'},{'name':'a','namespace':'storage'},{'name':'intel.e810','namespace':'default'}]
            storage/a @ net1 | 1 | [{'name':'a','namespace':'storage','interface':'net1'},{'name':'intel.e810','namespace':'default'}]
            """)
    void aNameWithADotIsWrittenInJson(String present, int times, String expected) {
        PodNetwork network = new PodNetwork("default", "intel.e810", "openshift.io/sidewarp_intelDe810");

        String once = network.addTo(present, "shop", times);

        assertThat(once).isEqualTo(expected.replace('\'', '"'));
        assertThat(network.addTo(once, "shop", times)).as("again").isEqualTo(once);
    }

    @Test
    void aNameWithoutNamespaceIsOfThatOfThePod() {
        assertThat(NETWORK.addTo("e810", "default", 1)).isEqualTo("e810");
    }

    @Test
    void whatIsNoListIsRefused() {
        assertThatThrownBy(() -> NETWORK.addTo("[{", "shop", 1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void devicesOfANicPolicyAreNetworksOfThePod() {
        Inject inject = (Inject) decide(
                true,
                pod("sidewarp.io/profile: networked, k8s.v1.cni.cncf.io/networks: macvlan", ""),
                Map.of("sidewarp.io/inject", "enabled"));

        assertThat(inject.networks()).contains("macvlan,default/e810,default/e810");
        assertThat(inject.rnicResource()).isEqualTo("openshift.io/sidewarp_e810");
    }

    @Test
    void whoAsksForNoDeviceGetsNoNetwork() {
        Inject inject = (Inject) decide(
                true,
                pod("sidewarp.io/profile: too-early, sidewarp.io/rnics: '0'", ""),
                Map.of("sidewarp.io/inject", "enabled"));

        assertThat(inject.networks()).isEmpty();
        assertThat(inject.rnicResource()).isEqualTo("sidewarp.io/rnic");
    }
}
