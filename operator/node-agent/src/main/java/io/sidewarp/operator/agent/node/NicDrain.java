// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.ProvisioningResult;
import io.sidewarp.operator.agent.nic.ProvisioningResult.FunctionUser;
import io.sidewarp.operator.api.v1alpha1.DrainSpec;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names the pods to evict from the functions that have to change, and no other pods. The controller carries out the
 * evictions, since the node agent has no right to evict pods. Not thread-safe.
 */
final class NicDrain {
    /** Form of a user that is a pod; groups: namespace and name. */
    static final Pattern POD = Pattern.compile("([a-z0-9.-]+)/([a-z0-9.-]+)");

    /**
     * Request to evict a pod.
     *
     * @param namespace namespace of the pod
     * @param name name of the pod
     * @param nic PCI address of the NIC that the pod must leave
     */
    record Request(String namespace, String name, String nic) {}

    private final Map<PciAddress, Duration> waitingSince = new HashMap<>();

    /** Returns the users of a waiting NIC that are pods, if the policy enables draining. */
    List<Request> evictions(ProvisioningResult result, DrainSpec spec, Duration now) {
        waitingSince.putIfAbsent(result.nic(), now);
        if (!spec.enabled()) {
            return List.of();
        }
        return result.users().stream()
                .map(FunctionUser::user)
                .distinct()
                .map(POD::matcher)
                .filter(Matcher::matches)
                .map(pod -> new Request(pod.group(1), pod.group(2), result.nic().value()))
                .toList();
    }

    /** Records that the NIC no longer waits. */
    void done(PciAddress nic) {
        waitingSince.remove(nic);
    }

    /** Returns whether a NIC has waited longer than its policy allows. */
    boolean isOverdue(PciAddress nic, DrainSpec spec, Duration now) {
        Duration since = waitingSince.get(nic);
        return since != null && now.minus(since).compareTo(Duration.ofSeconds(spec.timeoutSeconds())) > 0;
    }
}
