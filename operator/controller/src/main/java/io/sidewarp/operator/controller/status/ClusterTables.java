// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.status;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.sidewarp.common.status.StatusDocument;
import io.sidewarp.common.status.StatusDocument.Kind;
import io.sidewarp.common.status.StatusDocument.State;
import io.sidewarp.common.status.StatusDocument.Tone;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.LinkState;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.PodEviction;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileStatus;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.api.v1alpha1.VirtualFunctionStatus;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Tables of the status page with objects of the cluster. */
final class ClusterTables {
    private static final State UNKNOWN = new State("not reported yet", Tone.WAIT);
    private static final int MBIT_PER_GBIT = 1000;

    private final StatusDocument document;

    ClusterTables(StatusDocument document) {
        this.document = document;
    }

    void nodes(List<IwarpNode> nodes, long leftOut) {
        StatusDocument.Table table = document.table("Nodes", "", "There is no IwarpNode yet.")
                .column("Node", Kind.TEXT)
                .column("State", Kind.STATE)
                .column("Agent", Kind.STATE)
                .column("Last report", Kind.AGE)
                .column("Provider", Kind.TEXT)
                .column("Devices", Kind.NUMBER)
                .column("Message", Kind.TEXT)
                .leftOut(leftOut);
        for (IwarpNode node : nodes) {
            Optional<IwarpNodeStatus> status = node.reported();
            List<StatusCondition> conditions =
                    status.map(IwarpNodeStatus::conditions).orElse(List.of());
            Optional<StatusCondition> silent = node.agentReporting().filter(condition -> !condition.holds());
            table.row(
                    node.getMetadata().getName(),
                    state(conditions),
                    silent.map(condition -> new State(condition.reason(), Tone.BAD))
                            .orElseGet(() -> status.isPresent() ? new State("reports", Tone.GOOD) : UNKNOWN),
                    time(status.map(IwarpNodeStatus::lastReportTime)),
                    status.map(IwarpNodeStatus::activeProvider)
                            .map(ClusterTables::words)
                            .orElse("none"),
                    status.map(IwarpNodeStatus::devices).orElse(0),
                    silent.map(StatusCondition::message).orElseGet(() -> message(conditions)));
        }
    }

    void nics(List<IwarpNode> nodes) {
        StatusDocument.Table table = document.table("NICs", "", "No node has a NIC with RDMA or SR-IOV.")
                .column("NIC", Kind.TEXT)
                .column("State", Kind.STATE)
                .column("Link", Kind.STATE)
                .column("Speed", Kind.TEXT)
                .column("Driver", Kind.TEXT)
                .column("iWARP", Kind.TEXT)
                .column("Virtual functions", Kind.TEXT)
                .column("Policy", Kind.TEXT)
                .column("Message", Kind.TEXT);
        for (IwarpNode node : nodes) {
            for (NicStatus nic : nics(node)) {
                long used = nic.virtualFunctions().stream()
                        .filter(function -> function.usedBy() != null)
                        .count();
                table.row(
                        node.getMetadata().getName() + "/" + nic.name(),
                        state(nic.state()),
                        new State(words(nic.linkState()), nic.linkState() == LinkState.UP ? Tone.GOOD : Tone.PLAIN),
                        nic.speedMbps() == null ? "" : nic.speedMbps() / MBIT_PER_GBIT + " Gbit/s",
                        Objects.requireNonNullElse(nic.driver(), "none"),
                        nic.iwarp() ? "yes" : "no",
                        nic.virtualFunctions().isEmpty()
                                ? "none"
                                : used + " of " + nic.virtualFunctions().size() + " are used",
                        Objects.requireNonNullElse(nic.policy(), "none"),
                        Objects.requireNonNullElse(nic.message(), ""));
            }
        }
    }

    void policies(List<IwarpNicPolicy> policies, long leftOut) {
        StatusDocument.Table table = document.table("Policies", "", "There is no IwarpNicPolicy.")
                .column("Policy", Kind.TEXT)
                .column("State", Kind.STATE)
                .column("Nodes", Kind.TEXT)
                .column("NICs", Kind.NUMBER)
                .column("Message", Kind.TEXT)
                .leftOut(leftOut);
        for (IwarpNicPolicy policy : policies) {
            Optional<IwarpNicPolicyStatus> status = Optional.ofNullable(policy.getStatus());
            List<StatusCondition> conditions =
                    status.map(IwarpNicPolicyStatus::conditions).orElse(List.of());
            table.row(
                    policy.getMetadata().getName(),
                    state(conditions),
                    status.map(IwarpNicPolicyStatus::readyNodes).orElse(0) + " of "
                            + status.map(IwarpNicPolicyStatus::selectedNodes).orElse(0) + " are ready",
                    status.map(IwarpNicPolicyStatus::nics).orElse(0),
                    message(conditions));
        }
    }

    void profiles(List<SidecarProfile> profiles, long leftOut) {
        StatusDocument.Table table = document.table(
                        "Profiles", "", "There is no SidecarProfile. Pods get the built-in profile.")
                .column("Profile", Kind.TEXT)
                .column("State", Kind.STATE)
                .column("Message", Kind.TEXT)
                .leftOut(leftOut);
        for (SidecarProfile profile : profiles) {
            List<StatusCondition> conditions = Optional.ofNullable(profile.getStatus())
                    .map(SidecarProfileStatus::conditions)
                    .orElse(List.of());
            table.row(
                    profile.getMetadata().getNamespace() + "/"
                            + profile.getMetadata().getName(),
                    state(conditions),
                    message(conditions));
        }
    }

    /** Adds the pods that use virtual functions, and those that must leave a NIC. */
    void devices(List<IwarpNode> nodes) {
        StatusDocument.Table table = document.table(
                        "Pods with virtual functions", "", "No pod uses a virtual function of a NIC.")
                .column("Pod", Kind.TEXT)
                .column("Device", Kind.TEXT)
                .column("State", Kind.STATE);
        for (IwarpNode node : nodes) {
            Set<String> leaving = Set.copyOf(
                    node.getStatus() == null
                            ? List.of()
                            : node.getStatus().evictions().stream()
                                    .map(ClusterTables::name)
                                    .toList());
            for (NicStatus nic : nics(node)) {
                for (VirtualFunctionStatus function : nic.virtualFunctions()) {
                    if (function.usedBy() != null) {
                        table.row(
                                function.usedBy(),
                                node.getMetadata().getName() + "/" + nic.name() + ", virtual function "
                                        + function.index(),
                                leaving.contains(function.usedBy())
                                        ? new State("must leave", Tone.WAIT)
                                        : new State("uses it", Tone.GOOD));
                    }
                }
            }
        }
    }

    /** Adds the pods of the operator itself. */
    void pods(List<Pod> pods, long leftOut) {
        StatusDocument.Table table = document.table(
                        "Pods in the operator's namespace", "", "The namespace has no pods.")
                .column("Pod", Kind.TEXT)
                .column("State", Kind.STATE)
                .column("Node", Kind.TEXT)
                .column("Restarts", Kind.NUMBER)
                .column("Message", Kind.TEXT)
                .leftOut(leftOut);
        for (Pod pod : pods) {
            Optional<PodCondition> ready = pod.getStatus().getConditions().stream()
                    .filter(condition -> condition.getType().equals("Ready"))
                    .findFirst();
            boolean holds = ready.filter(condition -> condition.getStatus().equals("True"))
                    .isPresent();
            table.row(
                    pod.getMetadata().getName(),
                    holds
                            ? new State("ready", Tone.GOOD)
                            : new State(
                                    Objects.requireNonNullElse(pod.getStatus().getPhase(), "unknown"), Tone.WAIT),
                    Objects.requireNonNullElse(pod.getSpec().getNodeName(), "none yet"),
                    pod.getStatus().getContainerStatuses().stream()
                            .mapToInt(ContainerStatus::getRestartCount)
                            .sum(),
                    ready.map(PodCondition::getMessage).orElse(""));
        }
    }

    private static List<NicStatus> nics(IwarpNode node) {
        return node.reported().map(IwarpNodeStatus::nics).orElse(List.of());
    }

    private static String name(PodEviction eviction) {
        return eviction.namespace() + "/" + eviction.name();
    }

    /** Returns the one condition of a resource that holds. */
    private static Optional<StatusCondition> holding(List<StatusCondition> conditions) {
        return conditions.stream()
                .filter(condition -> Set.of(
                                StatusCondition.READY, StatusCondition.PROGRESSING, StatusCondition.DEGRADED)
                        .contains(condition.type()))
                .filter(StatusCondition::holds)
                .findFirst();
    }

    private static State state(List<StatusCondition> conditions) {
        return holding(conditions)
                .map(condition -> new State(
                        condition.type().equals(condition.reason())
                                ? condition.type()
                                : condition.type() + ": " + condition.reason(),
                        switch (condition.type()) {
                            case StatusCondition.READY -> Tone.GOOD;
                            case StatusCondition.PROGRESSING -> Tone.WAIT;
                            default -> Tone.BAD;
                        }))
                .orElse(UNKNOWN);
    }

    private static String message(List<StatusCondition> conditions) {
        return holding(conditions).map(StatusCondition::message).orElse("");
    }

    private static State state(@Nullable ProvisioningState state) {
        return state == null
                ? UNKNOWN
                : new State(
                        words(state),
                        switch (state) {
                            case DONE -> Tone.GOOD;
                            case WAITING -> Tone.WAIT;
                            case FAILED -> Tone.BAD;
                        });
    }

    /** Returns a time in ms, or 0 for none. */
    private static long time(Optional<String> time) {
        try {
            return time.map(Instant::parse).map(Instant::toEpochMilli).orElse(0L);
        } catch (DateTimeParseException e) {
            return 0;
        }
    }

    private static String words(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
