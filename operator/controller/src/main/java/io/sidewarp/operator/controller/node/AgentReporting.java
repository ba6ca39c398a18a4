// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import io.fabric8.kubernetes.api.model.Node;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.api.v1alpha1.StatusCondition.State;
import io.sidewarp.operator.controller.cache.NodeStates;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Judges whether the report of a node agent can be believed.
 *
 * @param problem reason why the agent does not report, as a state of the condition
 *     {@link StatusCondition#AGENT_REPORTING}
 * @param recheck time until the next check, unless the node or its report changes before
 */
record AgentReporting(Optional<State> problem, Optional<Duration> recheck) {
    /** Largest age of a report. Agents report every 5 minutes, so that three reports are missing. */
    static final Duration LARGEST_AGE = Duration.ofMinutes(15);

    /** Time for the first report after the creation of the IwarpNode. Images are pulled meanwhile. */
    static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final Duration FIRST_CHECKS = Duration.ofSeconds(10);
    private static final Duration LATER_CHECKS = Duration.ofMinutes(1);
    private static final Duration MARGIN = Duration.ofSeconds(1);

    /**
     * Judges one node. Agents of earlier versions report no time, so that the age of their reports is unknown.
     *
     * @param refusal reason why the API server refuses pods of node agents, if it does
     */
    static AgentReporting of(Node node, IwarpNode present, Supplier<Optional<String>> refusal, Instant now) {
        Optional<IwarpNodeStatus> report = present.reported();
        if (report.isEmpty()) {
            return beforeFirstReport(node, present, refusal, now);
        }
        Optional<String> notReady = NodeStates.whyNotReady(node);
        if (notReady.isPresent()) {
            return new AgentReporting(Optional.of(state("NodeNotReady", notReady.get())), Optional.empty());
        }
        String time = report.get().lastReportTime();
        if (time == null) {
            return new AgentReporting(Optional.empty(), Optional.empty());
        }
        Duration left = Duration.between(now, Instant.parse(time).plus(LARGEST_AGE));
        return left.isPositive()
                ? new AgentReporting(Optional.empty(), Optional.of(left.plus(MARGIN)))
                : new AgentReporting(
                        Optional.of(state(
                                "ReportOverdue",
                                "The node agent has not reported for " + LARGEST_AGE.toMinutes()
                                        + " minutes. Look at the pod of the node agent on this node, and at"
                                        + " the clocks.")),
                        Optional.of(LATER_CHECKS));
    }

    private static AgentReporting beforeFirstReport(
            Node node, IwarpNode present, Supplier<Optional<String>> refusal, Instant now) {
        Optional<String> refused = refusal.get();
        if (refused.isPresent()) {
            return new AgentReporting(Optional.of(state("NoNodeAgent", refused.get())), Optional.of(LATER_CHECKS));
        }
        Instant created = Instant.parse(present.getMetadata().getCreationTimestamp());
        if (created.plus(PATIENCE).isAfter(now)) {
            return new AgentReporting(Optional.empty(), Optional.of(FIRST_CHECKS));
        }
        State state = NodeStates.whyNotReady(node)
                .map(message -> state("NodeNotReady", message))
                .orElseGet(() -> state(
                        "NoNodeAgent",
                        "No node agent has reported from this node. Look at the pod of the node agent on this node, and"
                                + " at the nodeSelector and tolerations of its DaemonSet."));
        return new AgentReporting(Optional.of(state), Optional.of(LATER_CHECKS));
    }

    private static State state(String reason, String message) {
        return new State(StatusCondition.AGENT_REPORTING, reason, message);
    }
}
