// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.network.NetworkState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyRollupTest {
    private static final NetworkState NETWORK =
            new NetworkState(ProvisionedBy.NODE_AGENT, Optional.empty(), "sidewarp.io/rnic", Optional.empty());
    private static final String CURRENT = "observedGeneration: 3";
    private static final String READY = condition("Ready", "fine");
    private static final String DEGRADED = condition("Degraded", "write failed: EBUSY");
    private static final String NIC =
            "nics: [{name: e0, pciAddress: 'x', vendor: a, device: b, linkState: Up, policy: p}]";

    private static final String TO_RESTORE = NIC.replace("policy: p", "message: Waiting for shop/cart to go.");

    @Test
    void readyWhenAllSelectedNodesAre() {
        IwarpNicPolicyStatus status = rollup(node("a", "p", CURRENT, READY, NIC), node("b", "p", CURRENT, READY));

        assertThat(holding(status).type()).isEqualTo("Ready");
        assertThat(status.selectedNodes()).isEqualTo(2);
        assertThat(status.readyNodes()).isEqualTo(2);
        assertThat(status.nics()).isEqualTo(1);
        assertThat(status.observedGeneration()).isEqualTo(8);
    }

    @Test
    void progressingWhileANodeHasNotSeenItsSpecification() {
        IwarpNicPolicyStatus status =
                rollup(node("a", "p", CURRENT, READY), node("b", "p", "observedGeneration: 2", READY), node("c", "p"));

        assertThat(holding(status).type()).isEqualTo("Progressing");
        assertThat(holding(status).message())
                .isEqualTo("1 of 3 nodes is ready. In progress: b. No node agent has reported yet: c.");
        assertThat(holding(status).reason()).isEqualTo("NodesInProgress");
    }

    /** Nodes without an agent are, for example, nodes that the agents' nodeSelector excludes. */
    @Test
    void nodesWithoutAnAgentAreToldFromThoseThatAreAtWork() {
        IwarpNicPolicyStatus status = rollup(node("a", "p", CURRENT, READY), node("b", "p"), node("c", "p"));

        assertThat(holding(status).type()).isEqualTo("Progressing");
        assertThat(holding(status).reason()).isEqualTo("NoNodeAgent");
        assertThat(holding(status).message()).isEqualTo("1 of 3 nodes is ready. No node agent has reported yet: b, c.");
        assertThat(status.selectedNodes()).isEqualTo(3);
    }

    /** The report of the agent of b and d is older than the problem, and says that the node is ready. */
    @Test
    void nodesThatAreNotReadyOrWhoseAgentIsSilentAreNamedWithTheCause() {
        String notReady = away("NodeNotReady", "The node is not Ready: Kubelet stopped.");
        IwarpNicPolicyStatus status = rollup(
                node("a", "p", CURRENT, READY, NIC),
                node("b", "p", CURRENT, READY.replace("}]", "}, " + notReady + "]")),
                node("c", "p", "conditions: [" + away("NoNodeAgent", "DaemonSet agent cannot create pods.") + "]"),
                node("d", "p", CURRENT, READY.replace("}]", "}, " + notReady + "]")));

        assertThat(holding(status).type()).isEqualTo("Progressing");
        assertThat(holding(status).reason()).isEqualTo("NodeNotReady");
        assertThat(holding(status).message())
                .isEqualTo("1 of 4 nodes is ready. b, d: The node is not Ready: Kubelet stopped."
                        + " c: DaemonSet agent cannot create pods.");
        assertThat(status.readyNodes()).isEqualTo(1);
    }

    @Test
    void nodeThatReportsAgainIsReady() {
        String again = away("Reporting", "The node agent reports again.").replace("'False'", "'True'");

        assertThat(holding(rollup(node("a", "p", CURRENT, READY.replace("}]", "}, " + again + "]"), NIC)))
                        .reason())
                .isEqualTo("AllNodesReady");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            # selector of the policy                   | NICs of the node                                      | message
            vendors: ['8086'], drivers: [irdma]        | e0 8086 1592 ice -, e1 15b3 1017 mlx5_core -          | a has e0 of vendor 8086, device 1592, driver ice; the policy wants driver irdma.
            pfNames: ['ens?f*'], vendors: ['8086']     | ens1f0 1425 6801 cxgb4 -, e1 1425 6801 cxgb4 -        | a has ens1f0 of vendor 1425, device 6801, driver cxgb4; the policy wants vendor 8086.
            pciAddresses: ['0000:3b:00.0']             | e0 8086 1592 ice -                                    | a has e0 of vendor 8086, device 1592, driver ice; the policy wants PCI address 0000:3b:00.0.
            vendors: ['8086']                          | e0 8086 1592 ice q                                    | a has e0 of vendor 8086, device 1592, driver ice; policy q has it.
            """)
    void policyWithoutNicNamesTheNicsThatMissTheFewestCriteria(String selector, String nics, String expected) {
        List<String> parts = new ArrayList<>();
        for (String nic : nics.split(", ", -1)) {
            String[] words = nic.split(" ", -1);
            parts.add("{name: %s, pciAddress: x, vendor: '%s', device: '%s', driver: %s, linkState: Up%s}"
                    .formatted(
                            words[0],
                            words[1],
                            words[2],
                            words[3],
                            words[4].equals("-") ? "" : ", policy: " + words[4]));
        }
        IwarpNode node = node("a", "p", CURRENT, READY, "nics: " + parts);
        node.setSpec(Yaml.parse(
                        "{spec: {policies: [{name: p, generation: 8, nicSelector: {" + selector + "}}]}}",
                        IwarpNode.class)
                .getSpec());

        IwarpNicPolicyStatus status = rollup(node);

        assertThat(holding(status).type()).isEqualTo("Progressing");
        assertThat(holding(status).reason()).isEqualTo("NoNicSelected");
        assertThat(holding(status).message()).isEqualTo("The policy selects no NIC. " + expected);
    }

    @Test
    void policyWithoutNicTellsThatNodesHaveNone() {
        assertThat(holding(rollup(node("a", "p", CURRENT, READY))).message())
                .isEqualTo(
                        "The policy selects no NIC." + " The selected nodes have no NICs that support RDMA or SR-IOV.");
    }

    @Test
    void progressingWhileANodeIsAskedForWhatThePolicySaidBefore() {
        IwarpNicPolicyStatus status = rollup(node("a", "p", 8, CURRENT, READY), node("b", "p", 7, CURRENT, READY));

        assertThat(holding(status).type()).isEqualTo("Progressing");
        assertThat(holding(status).message()).isEqualTo("1 of 2 nodes is ready. In progress: b.");
    }

    @Test
    void degradedWhenANodeFailedAndTheMessageNamesIt() {
        IwarpNicPolicyStatus status =
                rollup(node("a", "p", CURRENT, READY), node("b", "p", CURRENT, DEGRADED), node("c", "p"));

        assertThat(holding(status).type()).isEqualTo("Degraded");
        assertThat(holding(status).message()).isEqualTo("1 of 3 nodes failed. b: write failed: EBUSY");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            # the node's condition | state of what is of no NIC | policies and states of its NICs | state of policy p
            Degraded    | Done    | p Done, q Failed, - Failed | Ready
            Progressing | Done    | p Done, q Waiting          | Ready
            Degraded    | Done    | p Failed                   | Degraded
            Degraded    | Done    | p Waiting, q Failed        | Progressing
            Degraded    | Done    | p Done, q Failed, p Failed | Degraded
            Progressing | Done    | p Waiting                  | Progressing
            Ready       | Done    | p Done                     | Ready
            # What is of no NIC holds for all policies.
            Degraded    | Failed  | p Done, q Failed           | Degraded
            Progressing | Waiting | p Done, q Done             | Progressing
            Degraded    | Waiting | p Failed                   | Degraded
            Degraded    | Failed  | q Done                     | Degraded
            """)
    void aNodeThatIsNotReadyBecauseOfOthersIsReadyForThisOne(
            String type, String nodeState, String nics, String expected) {
        List<String> parts = new ArrayList<>();
        for (String nic : nics.split(", ", -1)) {
            String[] policyAndState = nic.split(" ", -1);
            // A NIC has a message in every state, because the link of a NIC that is done can be down.
            parts.add(
                    "{name: e, pciAddress: '05:00." + parts.size() + "', vendor: a, device: b, linkState: Down, state: "
                            + policyAndState[1] + ", message: " + nic.replace(' ', '-')
                            + (policyAndState[0].equals("-") ? "}" : ", policy: " + policyAndState[0] + "}"));
        }
        String state = "nodeState: " + nodeState;

        IwarpNicPolicyStatus status =
                rollup(node("a", "p", CURRENT, state, condition(type, "of all"), "nics: " + parts));

        assertThat(holding(status).type()).isEqualTo(expected);
        assertThat(status.readyNodes()).isEqualTo(expected.equals("Ready") ? 1 : 0);
    }

    @Test
    void theMessageTellsWhatFailedForThePolicyAndNotForOthers() {
        String nics = "nics: [{name: e0, pciAddress: '05:00.0', vendor: a, device: b, linkState: Up, policy: p,"
                + " state: Failed, message: Refused.}, {name: e1, pciAddress: '05:00.1', vendor: a, device: b,"
                + " linkState: Up, policy: q, state: Failed, message: EBUSY}]";
        String all = condition("Degraded", "siw: none; 05:00.0: Refused.; 05:00.1: EBUSY");

        assertThat(holding(rollup(node("a", "p", CURRENT, "nodeState: Done", all, nics)))
                        .message())
                .isEqualTo("1 of 1 node failed. a: 05:00.0: Refused.");
        assertThat(holding(rollup(node("a", "p", CURRENT, "nodeState: Failed", all, nics)))
                        .message())
                .contains("siw: none");
    }

    /** During an upgrade. */
    @ParameterizedTest
    @ValueSource(strings = {"Ready", "Progressing", "Degraded"})
    void aNodeAgentThatTellsNoStatesSpeaksForAllPolicies(String type) {
        String otherFailed = NIC.replace(
                "}]",
                "}, {name: e1, pciAddress: 'y', vendor: a, device: b, linkState: Up, policy: q, message: EBUSY}]");

        assertThat(holding(rollup(node("a", "p", CURRENT, condition(type, "x: EBUSY"), otherFailed)))
                        .type())
                .isEqualTo(type);
        assertThat(rollup(node("a", "p", CURRENT, NIC)).readyNodes())
                .as("without conditions")
                .isZero();
    }

    @Test
    void aMessageNamesThreeNodesAtMost() {
        IwarpNode[] behind = IntStream.range(0, 9)
                .mapToObj(i -> node("n" + i, "p", "observedGeneration: 2"))
                .toArray(IwarpNode[]::new);
        IwarpNode[] silent =
                IntStream.range(0, 9).mapToObj(i -> node("n" + i, "p")).toArray(IwarpNode[]::new);

        assertThat(holding(rollup(behind)).message()).endsWith("In progress: n0, n1, n2, 6 more.");
        assertThat(holding(rollup(silent)).message()).endsWith("No node agent has reported yet: n0, n1, n2, 6 more.");
    }

    @Test
    void notReadyWhileNoNodeIsSelected() {
        assertThat(holding(rollup(node("a", "other", CURRENT, READY))).reason()).isEqualTo("NoNodes");
    }

    @Test
    void degradedWhenOthersDoNotCarryOutTheirPart() {
        NetworkState refused = new NetworkState(
                ProvisionedBy.SRIOV_NETWORK_OPERATOR,
                Optional.of("default/p"),
                "openshift.io/sidewarp_p",
                Optional.of(new NetworkState.Problem("SriovNetworkOperatorRefused", "vendor 1425 is not supported")));

        IwarpNicPolicyStatus status =
                PolicyRollup.of("p", 8L, List.of(), List.of(node("a", "p", CURRENT, READY)), 1, refused);

        assertThat(holding(status).type()).isEqualTo("Degraded");
        assertThat(holding(status).reason()).isEqualTo("SriovNetworkOperatorRefused");
        assertThat(holding(status).message()).isEqualTo("vendor 1425 is not supported");
        assertThat(status.provisionedBy()).isEqualTo(ProvisionedBy.SRIOV_NETWORK_OPERATOR);
        assertThat(status.network()).isEqualTo("default/p");
        assertThat(status.resourceName()).isEqualTo("openshift.io/sidewarp_p");
    }

    @ParameterizedTest
    @CsvSource({"1, NodesInProgress", "0, NoNodes"})
    void nodesThatAreNotToldYetAreNotMissing(int labelled, String reason) {
        IwarpNicPolicyStatus status = PolicyRollup.of("p", 8L, List.of(), List.of(), labelled, NETWORK);

        assertThat(holding(status).reason()).isEqualTo(reason);
    }

    @ParameterizedTest
    @CsvSource({
        // Nodes with the labels, seconds since the IwarpNodes were made, whether the second reported, whether that is
        // all
        "2, 0, true, true",
        "3, 0, true, false",
        "2, 0, false, false",
        "2, 60, false, false",
        "2, 61, false, true",
    })
    void theNicsOfAPolicyAreKnownWhenAllItsNodesHaveReportedOrTakeTooLong(
            int labelled, int seconds, boolean reported, boolean complete) {
        Instant made = Instant.parse("2030-01-01T00:00:00Z");
        List<IwarpNode> nodes = List.of(
                node("a", "p", CURRENT), reported ? node("b", "p", CURRENT) : node("b", "p"), node("c", "other"));
        nodes.forEach(node -> node.getMetadata().setCreationTimestamp(made.toString()));

        assertThat(PolicyRollup.isComplete("p", nodes, labelled, made.plusSeconds(seconds), Duration.ofSeconds(60)))
                .isEqualTo(complete);
    }

    @Test
    void theTimeOfATransitionIsKeptWhileTheStatusStays() {
        List<StatusCondition> former =
                List.of(new StatusCondition("Ready", "True", "Old", "old", "2020-01-01T00:00:00Z", 1L));

        IwarpNicPolicyStatus status =
                PolicyRollup.of("p", 8L, former, List.of(node("a", "p", CURRENT, READY, NIC)), 1, NETWORK);

        assertThat(holding(status).lastTransitionTime()).isEqualTo("2020-01-01T00:00:00Z");
    }

    @Test
    void aDeletedPolicyWaitsForNodesThatHaveItsNicsOrCannotRestoreThemOrHaveNotLooked() {
        List<IwarpNode> nodes = List.of(
                node("still-asked", "p", CURRENT, READY),
                node("still-ruled", "q", CURRENT, READY, NIC),
                node("behind", "q", "observedGeneration: 1", READY),
                node("in-use", "q", CURRENT, READY, TO_RESTORE),
                node("in-use-2", "q", CURRENT, READY, TO_RESTORE.replace("message", "state: Waiting, message")),
                node("failed", "q", CURRENT, DEGRADED, TO_RESTORE.replace("message", "state: Failed, message")),
                node("restored", "q", CURRENT, READY, TO_RESTORE.replace("message", "state: Done, message")),
                node("of-other-policy", "q", CURRENT, DEGRADED, TO_RESTORE.replace("message", "policy: q, message")),
                node("not-looked-at", "q", CURRENT, DEGRADED.replace("reason: R", "reason: LookFailed")),
                node("done", "q", CURRENT, READY),
                node("never-had-an-agent", "q"));

        assertThat(PolicyRollup.notRestored("p", nodes))
                .containsExactly(
                        "behind", "failed", "in-use", "in-use-2", "not-looked-at", "still-asked", "still-ruled");
    }

    @Test
    void aDeletedPolicyTellsWhichNodesItWaitsFor() {
        Optional<IwarpNicPolicyStatus> former = Optional.of(new IwarpNicPolicyStatus(
                8L,
                2,
                2,
                4,
                ProvisionedBy.SRIOV_NETWORK_OPERATOR,
                "default/p",
                "openshift.io/sidewarp_p",
                List.of(new StatusCondition("Ready", "True", "AllNodesReady", "all", "2020-01-01T00:00:00Z", 8L))));
        List<IwarpNode> nodes = List.of(
                node("still-asked", "p", CURRENT, READY),
                node("still-ruled", "q", CURRENT, READY, NIC),
                node("c", "q"));

        IwarpNicPolicyStatus status =
                PolicyRollup.restoring("p", 9L, former, nodes, List.of("still-asked", "still-ruled"));

        assertThat(holding(status).type()).isEqualTo("Progressing");
        assertThat(holding(status).reason()).isEqualTo("Restoring");
        assertThat(holding(status).message())
                .isEqualTo(
                        "2 nodes have not restored their NICs yet: still-asked, still-ruled. Pods may still use the NICs.");
        assertThat(status.observedGeneration()).isEqualTo(9);
        assertThat(status.selectedNodes()).isEqualTo(1);
        assertThat(status.readyNodes()).isZero();
        assertThat(status.nics()).isEqualTo(1);
        assertThat(status.network()).isNull();
        assertThat(status.resourceName()).isEqualTo("openshift.io/sidewarp_p");
    }

    private static IwarpNicPolicyStatus rollup(IwarpNode... nodes) {
        return PolicyRollup.of("p", 8L, List.of(), List.of(nodes), 0, NETWORK);
    }

    private static StatusCondition holding(IwarpNicPolicyStatus status) {
        return status.conditions().stream()
                .filter(StatusCondition::holds)
                .findFirst()
                .orElseThrow();
    }

    private static String condition(String type, String message) {
        return "conditions: [{type: " + type + ", status: 'True', reason: R, message: '" + message
                + "', lastTransitionTime: '2030-01-01T00:00:00Z'}]";
    }

    private static String away(String reason, String message) {
        return "{type: AgentReporting, status: 'False', reason: " + reason + ", message: '" + message
                + "', lastTransitionTime: '2030-01-01T00:00:00Z'}";
    }

    private static IwarpNode node(String name, String policy, String... status) {
        return node(name, policy, 8, status);
    }

    private static IwarpNode node(String name, String policy, int generation, String... status) {
        String statusPart = status.length == 0 ? "" : ", status: {" + String.join(", ", status) + "}";
        return Yaml.parse(
                "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNode, metadata: {name: " + name
                        + ", generation: 3}, spec: {policies:" + " [{name: " + policy
                        + ", generation: " + generation + ", nicSelector: {vendors: ['1425']}}]}" + statusPart + "}",
                IwarpNode.class);
    }
}
