// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Tracks which features the API server and all kubelets have, because a cluster is upgraded while the controller runs.
 * The API server is asked at intervals: it has no watch for its version, nor for kinds that it does not serve yet.
 *
 * <p>ResourceClaims are a feature of the cluster only while it has the chart's DeviceClass. An API server without the
 * kind, and a role without the permission, count as no DeviceClass.
 */
@ApplicationScoped
public class ClusterFeatures implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(ClusterFeatures.class);
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    private final KubernetesClient client;
    private final Kubelets kubelets = new Kubelets();
    private final SharedIndexInformer<Node> nodes;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("features").factory());
    private final List<Runnable> followers = new CopyOnWriteArrayList<>();
    private final CountDownLatch known = new CountDownLatch(1);
    private volatile @Nullable Set<KubernetesFeature> server;
    private volatile Set<KubernetesFeature> cluster = Set.of();
    /** Features of the server and of the cluster that followers know. */
    private List<Set<KubernetesFeature>> told = List.of();

    private boolean telling;
    private volatile boolean closed;

    public ClusterFeatures(KubernetesClient client) {
        this.client = client;
        nodes = client.nodes()
                .withLimit(PrunedStore.LIST_LIMIT)
                .runnableInformer(0)
                .itemStore(kubelets)
                .exceptionHandler((started, failure) -> {
                    if (!closed) {
                        LOG.warnf("event=not-followed kind=Node cause=%s", LogText.quoted(failure));
                    }
                    return !closed;
                });
        nodes.addEventHandler(new ResourceEventHandler<>() {
            @Override
            public void onAdd(Node node) {
                decide();
            }

            @Override
            public void onUpdate(Node former, Node updated) {
                if (Kubelets.isNews(former, updated)) {
                    decide();
                }
            }

            @Override
            public void onDelete(Node node, boolean finalStateUnknown) {
                decide();
            }
        });
    }

    /** Starts to follow the cluster, and returns before its features are known. */
    public void start() {
        nodes.start().whenComplete((_, _) -> decide());
        thread.scheduleWithFixedDelay(this::refresh, 0, INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Waits until the features are known. Decisions before that would have to be taken back. */
    public void await() throws InterruptedException {
        known.await();
    }

    /** Returns whether the features are known. */
    public boolean isReady() {
        return known.getCount() == 0;
    }

    /** Returns whether the API server and all kubelets have a feature. False while that is not known yet. */
    public boolean has(KubernetesFeature feature) {
        return cluster.contains(feature);
    }

    /** Returns whether the API server has a feature. False while that is not known yet. */
    public boolean isInServer(KubernetesFeature feature) {
        Set<KubernetesFeature> all = server;
        return all != null && all.contains(feature);
    }

    /** Registers {@code follower} for each change of the features, from {@link #tell} on. */
    public void onChange(Runnable follower) {
        followers.add(follower);
    }

    /** Notifies followers of changes from now on. Before, they lack the caches that they need. */
    public void tell() {
        synchronized (this) {
            telling = true;
        }
        decide();
    }

    /** Asks the API server again. */
    public void refresh() {
        try {
            server = ask();
        } catch (RuntimeException e) {
            // The next attempt is at the next interval.
            if (!closed) {
                LOG.warnf("event=features-unknown cause=%s", LogText.quoted(e));
            }
            return;
        }
        decide();
    }

    private Set<KubernetesFeature> ask() {
        Set<KubernetesFeature> found = EnumSet.noneOf(KubernetesFeature.class);
        if (KubernetesFeature.NATIVE_SIDECARS.isIn(client.getKubernetesVersion())) {
            found.add(KubernetesFeature.NATIVE_SIDECARS);
        }
        DeviceClass deviceClass = deviceClass();
        if (deviceClass != null) {
            found.add(KubernetesFeature.RESOURCE_CLAIMS);
            // An API server without the feature drops this member.
            if (SidewarpApi.RNIC_RESOURCE.equals(deviceClass.getSpec().getExtendedResourceName())) {
                found.add(KubernetesFeature.EXTENDED_RESOURCE_CLAIMS);
            }
        }
        return found;
    }

    private @Nullable DeviceClass deviceClass() {
        try {
            return client.resources(DeviceClass.class)
                    .withName(SidewarpApi.RNIC_DRIVER)
                    .get();
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
                return null;
            }
            throw e;
        }
    }

    private void decide() {
        Set<KubernetesFeature> ofServer = server;
        if (ofServer == null || !nodes.hasSynced()) {
            return;
        }
        synchronized (this) {
            Set<KubernetesFeature> found = EnumSet.copyOf(ofServer);
            found.removeIf(feature -> !kubelets.have(feature));
            if (!isReady() || !found.equals(cluster)) {
                LOG.infof("event=features api-server=\"%s\" all-nodes=\"%s\"", ofServer, found);
            }
            cluster = found;
            known.countDown();
            List<Set<KubernetesFeature>> now = List.of(ofServer, found);
            if (told.isEmpty()) {
                // Nothing is decided before the features are known.
                told = now;
            }
            if (!telling || told.equals(now)) {
                return;
            }
            told = now;
        }
        followers.forEach(Runnable::run);
    }

    @Override
    public void close() {
        closed = true;
        thread.shutdownNow();
        nodes.close();
    }
}
