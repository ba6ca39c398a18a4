// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.config.OperatorConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jboss.logging.Logger;

/**
 * State of the uninstallation of the chart. During the uninstallation, nothing is requested from nodes, so that their
 * agents remove everything that they created.
 */
@ApplicationScoped
public class Uninstallation {
    private static final Logger LOG = Logger.getLogger(Uninstallation.class);

    private final KubernetesClient client;
    private final OperatorConfig config;
    private final List<Runnable> followers = new CopyOnWriteArrayList<>();
    private volatile boolean underWay;
    /** Begin by a monotonic clock, in nanoseconds. */
    private volatile long begin;
    /** Held claims that the log names already. */
    private volatile List<String> told = List.of();

    public Uninstallation(KubernetesClient client, OperatorConfig config) {
        this.client = client;
        this.config = config;
    }

    /** Registers {@code follower} for each begin and end of the uninstallation. */
    public void onChange(Runnable follower) {
        followers.add(follower);
    }

    public boolean isUnderWay() {
        return underWay;
    }

    void set(boolean begins) {
        if (begins != underWay) {
            begin = System.nanoTime();
            underWay = begins;
            if (begins) {
                LOG.warnf(
                        "event=uninstalling configmap=%s action=\"none if intended; otherwise delete the Job"
                                + " sidewarp-uninstall and set the annotation %s to false\"",
                        config.installation(), InstallationReconciler.UNINSTALLING);
            }
            followers.forEach(Runnable::run);
        }
    }

    /**
     * Returns whether the agents have removed everything that they created. Nodes that do not answer, or whose pods
     * still use a device, are waited for as long as a deleted policy waits for its NICs.
     */
    boolean areNodesReleased() {
        if (!underWay) {
            return false;
        }
        List<String> held = client.resources(IwarpNode.class).list().getItems().stream()
                .filter(node -> !isReleased(node))
                .map(node -> node.getMetadata().getName())
                .sorted()
                .toList();
        if (held.isEmpty()) {
            return true;
        }
        if (isInTime()) {
            return false;
        }
        LOG.warnf(
                "event=nodes-not-released nodes=\"%s\" action=\"remove siw devices whose names begin with sidewarp- there,"
                        + " or restart these nodes\"",
                String.join(", ", held));
        return true;
    }

    /**
     * Returns whether no pod holds a ResourceClaim any more. Pods that hold claims cannot end without their node's
     * agent, so they are waited for as long as nodes are.
     */
    boolean areClaimsReleased() {
        if (!underWay) {
            return false;
        }
        List<String> held = HeldClaims.list(client);
        if (held.isEmpty()) {
            return true;
        }
        if (isInTime()) {
            if (!held.equals(told)) {
                LOG.warnf("event=claims-held claims=\"%s\" action=\"end these pods\"", String.join(", ", held));
            }
            told = held;
            return false;
        }
        LOG.warnf(
                "event=claims-not-released claims=\"%s\" action=\"these pods cannot end without a node agent; if they stay"
                        + " in Terminating, install the chart again and uninstall it when they have ended\"",
                String.join(", ", held));
        return true;
    }

    private boolean isInTime() {
        return System.nanoTime() - begin < config.restoreTimeout().toNanos();
    }

    /** Returns whether the agent has seen that nothing is requested, and has nothing left to remove. */
    static boolean isReleased(IwarpNode node) {
        // The agent of a node may have never run.
        if (node.reported().isEmpty()) {
            return true;
        }
        IwarpNodeStatus status = node.reported().get();
        return (node.getSpec() != null
                && node.getSpec().policies().isEmpty()
                && node.getSpec().fallback().isEmpty()
                && Objects.equals(
                        status.observedGeneration(), node.getMetadata().getGeneration())
                && status.conditions().stream()
                        .anyMatch(condition -> condition.type().equals(StatusCondition.READY) && condition.holds()));
    }
}
