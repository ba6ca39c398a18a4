// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.device.PluginStatus;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.ProviderCounts;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.api.v1alpha1.StatusCondition.State;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Result of one look at the node.
 *
 * @param nics NICs, for the status
 * @param siwState state of the agent's siw device
 * @param devices devices that are offered
 * @param provider kind of these devices; empty if there are none
 * @param counts number of devices of each kind that could be offered, as far as the look went
 * @param failed failures, with what to do
 * @param waiting reasons to wait for pods to go
 * @param passedOver fallbacks that were preferred but are unavailable, with the reasons
 * @param missing virtual functions that another program has not made yet
 * @param awaited RDMA devices that may still appear on existing functions
 * @param lagging NICs on which interfaces do not have the MTU of the policy yet
 * @param evictions pods that the controller shall evict
 */
record NodeObservation(
        List<NicStatus> nics,
        ProvisioningState siwState,
        List<RnicDevice> devices,
        Optional<ProviderKind> provider,
        ProviderCounts counts,
        List<String> failed,
        List<String> waiting,
        List<String> passedOver,
        List<String> missing,
        List<String> awaited,
        List<String> lagging,
        List<NicDrain.Request> evictions) {

    /** Returns this observation with more reasons to wait, which belong to no NIC. */
    NodeObservation waitingFor(List<String> reasons) {
        return reasons.isEmpty()
                ? this
                : new NodeObservation(
                        nics,
                        siwState == ProvisioningState.DONE ? ProvisioningState.WAITING : siwState,
                        devices,
                        provider,
                        counts,
                        failed,
                        Stream.concat(waiting.stream(), reasons.stream()).toList(),
                        passedOver,
                        missing,
                        awaited,
                        lagging,
                        evictions);
    }

    /** Returns whether to look at the node again soon. */
    boolean isWaiting(PluginStatus plugin) {
        return !isComplete() || !plugin.registered();
    }

    /** Returns the outcome in one word: {@code failed}, {@code waiting} or {@code done}. */
    String outcome() {
        if (!failed.isEmpty()) {
            return "failed";
        }
        return isComplete() ? "done" : "waiting";
    }

    private boolean isComplete() {
        return waiting.isEmpty() && missing.isEmpty() && awaited.isEmpty() && lagging.isEmpty();
    }

    /** Returns the node-level state, which belongs to no NIC. */
    ProvisioningState nodeState(PluginStatus plugin) {
        return siwState == ProvisioningState.DONE && isUnregistered(plugin) ? ProvisioningState.WAITING : siwState;
    }

    /** Returns whether devices are offered that the kubelet does not know. */
    private boolean isUnregistered(PluginStatus plugin) {
        return provider.isPresent() && !plugin.registered();
    }

    /** Returns the state of the whole node that follows from this look. */
    State state(PluginStatus plugin) {
        if (!failed.isEmpty()) {
            return new State(StatusCondition.DEGRADED, "ProvisioningFailed", String.join("; ", failed));
        }
        if (!waiting.isEmpty()) {
            return progressing("WaitingForPods", waiting);
        }
        if (!missing.isEmpty()) {
            return progressing("WaitingForVirtualFunctions", missing);
        }
        if (!awaited.isEmpty()) {
            return progressing("WaitingForRdma", awaited);
        }
        if (!lagging.isEmpty()) {
            return progressing("WaitingForMtu", lagging);
        }
        if (provider.isEmpty()) {
            String message = "no NIC is selected and usable, and there is no fallback";
            return new State(StatusCondition.READY, "NothingToOffer", message);
        }
        if (isUnregistered(plugin)) {
            return progressing("WaitingForKubelet", List.of(plugin.message()));
        }
        String reason = switch (provider.get()) {
            case HARDWARE -> "HardwareOffered";
            case KERNEL_SIW -> "KernelSiwOffered";
            case SOFTWARE -> "SoftwareOffered";
        };
        String usable = healthyDevices() + " of " + devices.size() + " devices can be used";
        String offer = Stream.concat(Stream.of(usable), passedOver.stream()).collect(Collectors.joining("; "));
        return new State(StatusCondition.READY, reason, offer);
    }

    private static State progressing(String reason, List<String> messages) {
        return new State(StatusCondition.PROGRESSING, reason, String.join("; ", messages));
    }

    int healthyDevices() {
        return (int) devices.stream().filter(RnicDevice::healthy).count();
    }
}
