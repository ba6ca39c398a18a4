// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.ProvisioningResult;
import io.sidewarp.operator.agent.nic.ProvisioningResult.FunctionUser;
import io.sidewarp.operator.api.v1alpha1.DrainSpec;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jboss.logging.Logger;

/**
 * Evicts pods from the functions that have to change, and no other pods. Evictions go through the API server, which
 * enforces PodDisruptionBudgets. A refused eviction is requested again at the next look. Not thread-safe.
 */
final class NicDrain {
    private static final Logger LOG = Logger.getLogger(NicDrain.class);
    private static final Pattern POD = Pattern.compile("([a-z0-9.-]+)/([a-z0-9.-]+)");

    /** Requests evictions from the API server. */
    @FunctionalInterface
    interface Evictions {
        /**
         * Requests the eviction of a pod. Returns false if a PodDisruptionBudget refuses it.
         *
         * @throws KubernetesClientException if the API server does not answer, or does not permit evictions
         */
        boolean evict(String namespace, String pod);
    }

    private final Evictions evictions;
    private final Map<PciAddress, Duration> waitingSince = new HashMap<>();

    NicDrain(Evictions evictions) {
        this.evictions = evictions;
    }

    /** Evicts the users of a waiting NIC if the policy enables draining. */
    void evict(ProvisioningResult result, DrainSpec spec, Duration now) {
        waitingSince.putIfAbsent(result.nic(), now);
        if (!spec.enabled()) {
            return;
        }
        Set<String> asked = new HashSet<>();
        for (FunctionUser user : result.users()) {
            var pod = POD.matcher(user.user());
            if (asked.add(user.user()) && pod.matches()) {
                evict(pod.group(1), pod.group(2), result.nic());
            }
        }
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

    private void evict(String namespace, String name, PciAddress nic) {
        try {
            boolean accepted = evictions.evict(namespace, name);
            LOG.infof("event=eviction pod=%s/%s nic=%s accepted=%s", namespace, name, nic, accepted);
        } catch (KubernetesClientException e) {
            LOG.warnf(
                    "event=eviction-failed pod=%s/%s nic=%s cause=%s",
                    namespace, name, nic, LogText.quoted(e.getMessage()));
        }
    }
}
