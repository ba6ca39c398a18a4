// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import io.sidewarp.operator.controller.injection.IdentityOffer;
import io.sidewarp.operator.controller.injection.InjectionFacts;
import io.sidewarp.operator.controller.injection.PodNetwork;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Facts about namespaces for the webhook, from caches that follow the API server. A call per pod would double
 * the API server's load, and a slow API server would block the creation of pods. The API server is asked only for
 * objects that a cache lacks.
 */
@ApplicationScoped
public class NamespaceFacts implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(NamespaceFacts.class);

    private final KubernetesClient client;
    private final ClusterFeatures features;
    private final Supplier<IdentityOffer> identities;
    private final SharedIndexInformer<Namespace> namespaces;
    private final SharedIndexInformer<SidecarProfile> profiles;
    private final SharedIndexInformer<IwarpNicPolicy> policies;
    private final List<SharedIndexInformer<?>> all;
    private volatile boolean closed;

    public NamespaceFacts(KubernetesClient client, ClusterFeatures features, Supplier<IdentityOffer> identities) {
        this.client = client;
        this.features = features;
        this.identities = identities;
        namespaces = persistent(client.namespaces().runnableInformer(0));
        profiles = persistent(
                client.resources(SidecarProfile.class).inAnyNamespace().runnableInformer(0));
        policies = persistent(client.resources(IwarpNicPolicy.class).runnableInformer(0));
        all = List.of(namespaces, profiles, policies);
    }

    /** Starts to follow the API server, and returns before the caches are filled. */
    void start() {
        all.forEach(SharedIndexInformer::start);
    }

    /** Makes an informer retry. By default, an informer gives up when its first list fails. */
    private <T> SharedIndexInformer<T> persistent(SharedIndexInformer<T> informer) {
        return informer.exceptionHandler((started, failure) -> {
            if (!closed) {
                LOG.warnf(
                        "event=not-followed kind=%s cause=%s",
                        informer.getApiTypeClass().getSimpleName(), LogText.quoted(failure));
            }
            return !closed;
        });
    }

    /** Returns whether the caches are filled and the features of the cluster are known. */
    boolean isReady() {
        return features.isReady() && all.stream().allMatch(SharedIndexInformer::hasSynced);
    }

    /** Returns whether the caches follow the API server now. */
    public boolean isWatching() {
        return all.stream().allMatch(SharedIndexInformer::isWatching);
    }

    Map<String, String> labels(String name) {
        return metadata(name).map(ObjectMeta::getLabels).orElseGet(Map::of);
    }

    private Optional<ObjectMeta> metadata(String name) {
        return Optional.ofNullable(namespaces.getStore().getByKey(name))
                .or(() -> Optional.ofNullable(client.namespaces().withName(name).get()))
                .map(Namespace::getMetadata);
    }

    /** Returns the facts for pods of a namespace. */
    InjectionFacts of(String namespace) {
        return new InjectionFacts() {
            @Override
            public Map<String, String> namespaceAnnotations() {
                return metadata(namespace).map(ObjectMeta::getAnnotations).orElseGet(Map::of);
            }

            @Override
            public Optional<SidecarProfileSpec> profile(String name) {
                return NamespaceFacts.this.profile(namespace, name);
            }

            @Override
            public Optional<PodNetwork> network(String nicPolicy) {
                return NamespaceFacts.this.network(nicPolicy);
            }

            @Override
            public IdentityOffer identities() {
                return identities.get();
            }

            @Override
            public boolean has(KubernetesFeature feature) {
                return features.has(feature);
            }

            @Override
            public boolean isInServer(KubernetesFeature feature) {
                return features.isInServer(feature);
            }
        };
    }

    private Optional<PodNetwork> network(String nicPolicy) {
        return Optional.ofNullable(policies.getStore().getByKey(nicPolicy))
                .or(() -> Optional.ofNullable(client.resources(IwarpNicPolicy.class)
                        .withName(nicPolicy)
                        .get()))
                .flatMap(PodNetwork::of);
    }

    private Optional<SidecarProfileSpec> profile(String namespace, String name) {
        SidecarProfile cached = profiles.getStore().getByKey(namespace + "/" + name);
        SidecarProfile profile = cached == null && !name.equals(SidewarpApi.DEFAULT_PROFILE)
                ? client.resources(SidecarProfile.class)
                        .inNamespace(namespace)
                        .withName(name)
                        .get()
                : cached;
        return Optional.ofNullable(profile)
                .map(found -> Optional.ofNullable(found.getSpec()).orElseGet(SidecarProfileSpec::defaults));
    }

    @Override
    public void close() {
        closed = true;
        all.forEach(SharedIndexInformer::close);
    }
}
