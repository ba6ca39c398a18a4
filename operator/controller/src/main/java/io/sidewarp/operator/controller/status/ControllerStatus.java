// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.status;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.common.LogText;
import io.sidewarp.common.status.StatusDocument;
import io.sidewarp.common.status.StatusDocument.Kind;
import io.sidewarp.common.status.StatusDocument.State;
import io.sidewarp.common.status.StatusDocument.Tone;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.webhook.PodReviews;
import io.sidewarp.operator.controller.webhook.WebhookServer;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The state of the cluster for the status page, as the API server tells it, and the decisions of this replica's webhook.
 * A browser causes the requests to the API server, so their number and size are bounded. Thread-safe.
 */
@ApplicationScoped
public class ControllerStatus {
    private static final Duration PERIOD = Duration.ofSeconds(5);
    private static final long LIST_LIMIT = 200;
    private static final int MAX_CAUSE = 300;
    private static final ListOptions LIMITED =
            new ListOptionsBuilder().withLimit(LIST_LIMIT).build();

    private final KubernetesClient client;
    private final OperatorConfig config;
    private final WebhookServer webhook;
    private final ReentrantLock asking = new ReentrantLock();
    private volatile byte[] last = new byte[0];
    private long lastNanos;

    public ControllerStatus(KubernetesClient client, OperatorConfig config, WebhookServer webhook) {
        this.client = client;
        this.config = config;
        this.webhook = webhook;
    }

    /**
     * Returns the state as JSON. The state is up to some seconds old, and older while the API server does not answer.
     * Empty if there is no state yet.
     */
    public byte[] data() {
        if (asking.tryLock()) {
            try {
                if (last.length == 0 || System.nanoTime() - lastNanos > PERIOD.toNanos() / 2) {
                    last = collect();
                    lastNanos = System.nanoTime();
                }
            } finally {
                asking.unlock();
            }
        }
        return last;
    }

    private byte[] collect() {
        StatusDocument document = new StatusDocument("Sidewarp controller", PERIOD)
                .fact(
                        "Webhook of this replica",
                        Kind.STATE,
                        webhook.isReady() ? new State("ready", Tone.GOOD) : new State("not ready", Tone.WAIT))
                .fact("Namespace", Kind.TEXT, config.namespace())
                .fact("Version", Kind.TEXT, config.version());
        try {
            ClusterTables tables = new ClusterTables(document);
            KubernetesResourceList<IwarpNode> nodes =
                    client.resources(IwarpNode.class).list(LIMITED);
            tables.nodes(nodes.getItems(), remaining(nodes));
            tables.nics(nodes.getItems());
            KubernetesResourceList<IwarpNicPolicy> policies =
                    client.resources(IwarpNicPolicy.class).list(LIMITED);
            tables.policies(policies.getItems(), remaining(policies));
            KubernetesResourceList<SidecarProfile> profiles =
                    client.resources(SidecarProfile.class).inAnyNamespace().list(LIMITED);
            tables.profiles(profiles.getItems(), remaining(profiles));
            reviews(document);
            tables.devices(nodes.getItems());
            KubernetesResourceList<Pod> pods =
                    client.pods().inNamespace(config.namespace()).list(LIMITED);
            tables.pods(pods.getItems(), remaining(pods));
        } catch (KubernetesClientException e) {
            document.problem("The API server did not answer, so tables are missing: "
                    + LogText.printable(String.valueOf(e.getMessage()), MAX_CAUSE)
                    + ". Look at the log of the controller.");
        }
        return document.toJson();
    }

    private static long remaining(KubernetesResourceList<? extends HasMetadata> list) {
        return Optional.ofNullable(list.getMetadata().getRemainingItemCount()).orElse(0L);
    }

    private void reviews(StatusDocument document) {
        StatusDocument.Table table = document.table(
                        "New pods of the last 15 minutes",
                        "Pods for which this replica was asked, and which got a sidecar or a message.",
                        "No such pod was created.")
                .column("Pod", Kind.TEXT)
                .column("Last", Kind.AGE)
                .column("Number", Kind.NUMBER)
                .column("Decision", Kind.STATE)
                .column("Message", Kind.TEXT);
        webhook.reviews().list().forEach(entry -> {
            PodReviews.Review review = entry.event();
            table.row(
                    review.namespace() + "/" + review.pod(),
                    entry.last().toEpochMilli(),
                    entry.count(),
                    new State(
                            review.decision().name().toLowerCase(Locale.ROOT),
                            switch (review.decision()) {
                                case INJECTED -> Tone.GOOD;
                                case UNCHANGED -> Tone.WAIT;
                                case REFUSED -> Tone.BAD;
                            }),
                    review.message());
        });
    }
}
