// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Observed state of a node, as its node agent reports it. The nodeState is null from node agents that do not report
 * it.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record IwarpNodeStatus(
        @JsonPropertyDescription("Generation of the IwarpNode that this status describes.") @Nullable
        Long observedGeneration,

        @JsonPropertyDescription("Version of the node agent.") @Nullable
        String agentVersion,

        @JsonPropertyDescription("Version of the node's kernel.") @Nullable
        String kernelVersion,

        @JsonPropertyDescription("NICs of the node that support RDMA or SR-IOV.")
        List<NicStatus> nics,

        @JsonPropertyDescription("Number of devices that each kind of provider could offer.") @Nullable
        ProviderCounts providers,

        @JsonPropertyDescription("Kind of provider that the node offers now. Unset: none.") @Nullable
        ProviderKind activeProvider,

        @JsonPropertyDescription("Number of devices (sidewarp.io/rnic) that the node offers now.") @Nullable
        Integer devices,

        @JsonPropertyDescription(
                "State of everything that belongs to no NIC: the siw device, the device plugin, and the inspection of"
                        + " the node. A policy is carried out on the node when this state and the states of its NICs"
                        + " are Done.")
        @Nullable
        ProvisioningState nodeState,

        @JsonPropertyDescription(
                "Ready: all policies are carried out. Progressing: a change is under way or waits for pods. Degraded: a"
                        + " change failed. The message says which change failed and what to do. With the reason"
                        + " LookFailed, the node could not be inspected, and the rest of the status is from an earlier"
                        + " inspection. AgentReporting, from the controller: False while the node is not Ready or its agent"
                        + " does not report. The rest of the status is then out of date.")
        List<StatusCondition> conditions,

        @JsonPropertyDescription(
                "Time of the last report of the node agent, in RFC 3339. The agent renews the time every 5 minutes"
                        + " while nothing else changes.")
        @Nullable
        String lastReportTime,

        @JsonPropertyDescription(
                "Pods that use devices that must change, on NICs whose policy drains. The controller evicts these"
                        + " pods.")
        List<PodEviction> evictions) {

    /**
     * Reason of Degraded when the node could not be inspected. The rest of the status is then from an earlier
     * inspection.
     */
    public static final String LOOK_FAILED = "LookFailed";

    public IwarpNodeStatus {
        nics = nics == null ? List.of() : List.copyOf(nics);
        conditions = conditions == null ? List.of() : List.copyOf(conditions);
        evictions = evictions == null ? List.of() : List.copyOf(evictions);
    }

    /** Returns this status with another time of the report. Reports are compared without a time. */
    public IwarpNodeStatus reportedAt(@Nullable String time) {
        return with(conditions, time);
    }

    /** Returns the part of this status that the node agent writes: without the condition of the controller. */
    public IwarpNodeStatus ofAgent() {
        return with(
                conditions.stream()
                        .filter(condition -> !condition.type().equals(StatusCondition.AGENT_REPORTING))
                        .toList(),
                lastReportTime);
    }

    private IwarpNodeStatus with(List<StatusCondition> newConditions, @Nullable String newReportTime) {
        return new IwarpNodeStatus(
                observedGeneration,
                agentVersion,
                kernelVersion,
                nics,
                providers,
                activeProvider,
                devices,
                nodeState,
                newConditions,
                newReportTime,
                evictions);
    }
}
