// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.Eviction;
import io.fabric8.kubernetes.api.model.policy.v1.EvictionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.PodEviction;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/**
 * Evicts the pods that node agents name, because the pods use devices that must change. An agent can name pods of its
 * own node only. Evictions go through the API server, which enforces PodDisruptionBudgets.
 */
final class PodEvictions {
    private static final Logger LOG = Logger.getLogger(PodEvictions.class);

    private final KubernetesClient client;
    private final EventRecorder events;
    /** Requests that were refused before. An event reports only the first refusal of a request. */
    private final Set<String> refused = ConcurrentHashMap.newKeySet();

    PodEvictions(KubernetesClient client, EventRecorder events) {
        this.client = client;
        this.events = events;
    }

    /**
     * Evicts the pods that the agent of a node names, if a policy of the node drains.
     *
     * @return whether the agent still names pods, so that a later attempt is necessary
     */
    boolean carryOut(IwarpNode node) {
        if (node.getStatus() == null || node.getStatus().evictions().isEmpty()) {
            return false;
        }
        if (node.getSpec().policies().stream()
                .noneMatch(policy -> policy.drain().enabled())) {
            LOG.debugf(
                    "event=evictions-ignored node=%s reason=\"no policy drains\"",
                    node.getMetadata().getName());
            return false;
        }
        node.getStatus().evictions().forEach(eviction -> carryOut(node, eviction));
        return true;
    }

    private void carryOut(IwarpNode node, PodEviction eviction) {
        String nodeName = node.getMetadata().getName();
        String podName = eviction.namespace() + "/" + eviction.name();
        String request = nodeName + " " + podName;
        try {
            PodResource resource =
                    client.pods().inNamespace(eviction.namespace()).withName(eviction.name());
            Pod pod = resource.get();
            if (pod == null
                    || pod.isMarkedForDeletion()
                    || !eviction.uid().equals(pod.getMetadata().getUid())) {
                refused.remove(request);
                return;
            }
            if (!nodeName.equals(pod.getSpec().getNodeName())) {
                if (refused.add(request)) {
                    String message = "The node agent of " + nodeName + " names pod " + podName + ", which runs on "
                            + pod.getSpec().getNodeName() + ". The pod is not evicted.";
                    LOG.warnf("event=eviction-refused reason=\"%s\"", message);
                    events.warn(node, "EvictionRefused", message);
                }
                return;
            }
            String use = "The pod uses a device of NIC " + eviction.nic() + " of node " + nodeName
                    + ", which must change. The policy of the NIC drains.";
            if (resource.evict(precisely(pod))) {
                refused.remove(request);
                LOG.infof("event=pod-evicted pod=%s node=%s nic=%s", podName, nodeName, eviction.nic());
                events.inform(pod, "NicDrain", use + " The pod is evicted.");
            } else if (refused.add(request)) {
                LOG.infof("event=eviction-waits pod=%s node=%s nic=%s", podName, nodeName, eviction.nic());
                events.warn(pod, "NicDrainWaits", use + " A PodDisruptionBudget does not permit the eviction yet.");
            }
        } catch (KubernetesClientException e) {
            LOG.warnf(
                    "event=eviction-failed pod=%s node=%s nic=%s cause=%s",
                    podName, nodeName, eviction.nic(), LogText.quoted(e.getMessage()));
        }
    }

    /** Returns the eviction of this pod, and of no later pod of the same name. */
    private static Eviction precisely(Pod pod) {
        return new EvictionBuilder()
                // All API servers accept this version, and those before Kubernetes 1.22 no other.
                .withApiVersion("policy/v1beta1")
                .withNewMetadata()
                .withNamespace(pod.getMetadata().getNamespace())
                .withName(pod.getMetadata().getName())
                .endMetadata()
                .withDeleteOptions(new DeleteOptionsBuilder()
                        .withNewPreconditions()
                        .withUid(pod.getMetadata().getUid())
                        .endPreconditions()
                        .build())
                .build();
    }
}
