// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.controller.Yaml;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UninstallationTest {

    @ParameterizedTest
    @CsvSource({
        // Columns: specification of the node, generation that the agent has seen, condition that holds, whether the
        // agent may go.
        "fallback: [], 3, Ready, true",
        "fallback: [], 2, Ready, false",
        "fallback: [], 3, Progressing, false",
        "fallback: [], 3, Degraded, false",
        "fallback: [KernelSiw], 3, Ready, false",
        "'policies: [{name: p, generation: 1, nicSelector: {vendors: [''1425'']}}]', 3, Ready, false",
    })
    void anAgentMayGoWhenItHasRemovedWhatItMade(String spec, int observed, String condition, boolean released) {
        IwarpNode node = node(
                spec,
                ", status: {observedGeneration: " + observed + ", conditions: [{type: " + condition
                        + ", status: 'True', reason: R, message: m, lastTransitionTime: '2030-01-01T00:00:00Z'}]}");

        assertThat(Uninstallation.isReleased(node)).isEqualTo(released);
    }

    @ParameterizedTest
    @CsvSource({"fallback: []", "fallback: [KernelSiw]"})
    void aNodeThatNeverHadAnAgentIsNotWaitedFor(String spec) {
        assertThat(Uninstallation.isReleased(node(spec, ""))).isTrue();
    }

    private static IwarpNode node(String spec, String status) {
        return Yaml.parse(
                "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNode, metadata: {name: a, generation: 3}, spec: {" + spec
                        + "}" + status + "}",
                IwarpNode.class);
    }
}
