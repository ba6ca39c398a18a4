// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.controller.config.OperatorConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Whether the chart is about to be uninstalled. Then nodes are asked for nothing, so that their agents remove what they made. */
@ApplicationScoped
public class Uninstallation {
    private final KubernetesClient client;
    private final OperatorConfig config;
    private final List<Runnable> followers = new CopyOnWriteArrayList<>();
    private volatile @Nullable Instant since;

    public Uninstallation(KubernetesClient client, OperatorConfig config) {
        this.client = client;
        this.config = config;
    }

    /** Has {@code follower} hear of each begin and end. */
    public void onChange(Runnable follower) {
        followers.add(follower);
    }

    public boolean isUnderWay() {
        return since != null;
    }

    void set(boolean underWay) {
        if (underWay != isUnderWay()) {
            since = underWay ? Instant.now() : null;
            followers.forEach(Runnable::run);
        }
    }

    /** Whether the agents have removed their siw devices, where no pod uses them; nodes that do not answer are waited for a time. */
    boolean areNodesReleased() {
        Instant begin = since;
        return begin != null
                && (begin.plus(config.restoreTimeout()).isBefore(Instant.now())
                        || client.resources(IwarpNode.class).list().getItems().stream()
                                .allMatch(Uninstallation::isReleased));
    }

    private static boolean isReleased(IwarpNode node) {
        IwarpNodeStatus status = node.getStatus();
        return status == null
                || (node.getSpec() != null
                        && node.getSpec().fallback().isEmpty()
                        && Objects.equals(
                                status.observedGeneration(), node.getMetadata().getGeneration())
                        && status.activeProvider() != ProviderKind.KERNEL_SIW);
    }
}
