// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.controller.Yaml;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentReportingTest {
    private static final Instant NOW = Instant.parse("2030-01-01T01:00:00Z");

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            # condition Ready of the node | created  | status of the IwarpNode                                   | refusal | reason        | seconds until the next check
            True    | 00:00:00 | observedGeneration: 1, lastReportTime: '2030-01-01T00:59:00Z' | - | -             | 841
            True    | 00:00:00 | observedGeneration: 1, lastReportTime: '2030-01-01T00:45:01Z' | - | -             | 2
            True    | 00:00:00 | observedGeneration: 1, lastReportTime: '2030-01-01T00:45:00Z' | - | ReportOverdue | 60
            # Agents of earlier versions report no time.
            True    | 00:00:00 | observedGeneration: 1                                         | - | -             | -
            # New nodes have no condition yet.
            -       | 00:00:00 | observedGeneration: 1                                         | - | -             | -
            Unknown | 00:00:00 | observedGeneration: 1, lastReportTime: '2030-01-01T00:59:00Z' | - | NodeNotReady  | -
            False   | 00:00:00 | observedGeneration: 1                                         | - | NodeNotReady  | -
            # The agent starts.
            True    | 00:59:30 | -                                                             | - | -             | 10
            False   | 00:59:30 | -                                                             | - | -             | 10
            True    | 00:59:30 | -                                                             | no | NoNodeAgent  | 60
            True    | 00:58:00 | -                                                             | - | NoNodeAgent   | 60
            False   | 00:58:00 | conditions: []                                                | - | NodeNotReady  | 60
            True    | 00:00:00 | observedGeneration: 1                                         | no | -            | -
            """)
    void reportIsJudgedByTheNodeAndByItsAge(
            String ready, String created, String status, String refusal, String reason, Integer recheck) {
        Node node = Yaml.parse(
                "{kind: Node, metadata: {name: a}, status: {conditions: ["
                        + (ready == null ? "" : "{type: Ready, message: m, status: '" + ready + "'}") + "]}}",
                Node.class);
        IwarpNode present = Yaml.parse(
                "{metadata: {name: a, creationTimestamp: '2030-01-01T" + created + "Z'}"
                        + (status == null ? "" : ", status: {" + status + "}") + "}",
                IwarpNode.class);

        AgentReporting reporting = AgentReporting.of(node, present, () -> Optional.ofNullable(refusal), NOW);

        assertThat(reporting.problem().map(state -> state.reason())).isEqualTo(Optional.ofNullable(reason));
        assertThat(reporting.recheck().map(duration -> (int) duration.toSeconds()))
                .isEqualTo(Optional.ofNullable(recheck));
    }
}
