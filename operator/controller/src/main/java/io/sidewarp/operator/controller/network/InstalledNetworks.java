// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.sidewarp.common.LogText;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.controller.config.OperatorConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jboss.logging.Logger;

/**
 * Tracks whether the cluster has the resources of the SR-IOV network operator and of Multus, also if they are installed
 * later. Also tracks the objects of these kinds that this operator has written.
 */
@ApplicationScoped
public class InstalledNetworks implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(InstalledNetworks.class);

    private final KubernetesClient client;
    private final OperatorConfig config;
    private final List<SharedIndexInformer<CustomResourceDefinition>> definitions = new ArrayList<>();
    private final Map<Upstream, SharedIndexInformer<GenericKubernetesResource>> written = new EnumMap<>(Upstream.class);
    private final List<Runnable> installationFollowers = new CopyOnWriteArrayList<>();
    private final List<Consumer<String>> policyFollowers = new CopyOnWriteArrayList<>();

    /**
     * State of the start, guarded by {@link #written}: the installed resources are known, followers are notified,
     * followers have missed a change.
     */
    private boolean known;

    private boolean telling;
    private boolean missed;

    private volatile boolean closed;

    public InstalledNetworks(KubernetesClient client, OperatorConfig config) {
        this.client = client;
        this.config = config;
    }

    /**
     * Starts to follow the resources, and returns when the installed resources are known. A reconciliation before that
     * would make the node agents create virtual functions that belong to the SR-IOV network operator. Resources that
     * are disabled in the settings are followed too, so that objects written before are found and removed.
     */
    public void start() {
        for (Upstream upstream : Upstream.values()) {
            follow(upstream);
        }
        synchronized (written) {
            known = true;
        }
    }

    /** Notifies followers of installations from now on. Before, they lack the caches that they need. */
    public void tell() {
        synchronized (written) {
            telling = true;
            if (!missed) {
                return;
            }
        }
        installationFollowers.forEach(Runnable::run);
    }

    private void follow(Upstream upstream) {
        SharedIndexInformer<CustomResourceDefinition> informer = client.apiextensions()
                .v1()
                .customResourceDefinitions()
                .withName(upstream.definition())
                .runnableInformer(0)
                .exceptionHandler(
                        (_, failure) -> retries("definition-not-followed name=" + upstream.definition(), failure))
                .addEventHandler(
                        new Handler<>(definition -> use(upstream, isServed(definition)), _ -> use(upstream, false)));
        definitions.add(informer);
        try {
            informer.start().toCompletableFuture().get();
        } catch (ExecutionException e) {
            throw new CompletionException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        CustomResourceDefinition present = informer.getStore().getByKey(upstream.definition());
        use(upstream, present != null && isServed(present));
    }

    /** Logs why an informer lost its watch. Returns whether the informer tries again. */
    private boolean retries(String event, Throwable failure) {
        if (!closed) {
            LOG.warnf("event=%s cause=%s", event, LogText.quoted(failure));
        }
        return !closed;
    }

    /** Handles additions and updates alike. */
    private record Handler<T>(Consumer<T> present, Consumer<T> gone) implements ResourceEventHandler<T> {
        @Override
        public void onAdd(T object) {
            present.accept(object);
        }

        @Override
        public void onUpdate(T former, T object) {
            present.accept(object);
        }

        @Override
        public void onDelete(T object, boolean finalStateUnknown) {
            gone.accept(object);
        }
    }

    static boolean isServed(CustomResourceDefinition definition) {
        return Optional.ofNullable(definition.getStatus())
                // The member is null at first on API servers that write absent members as null.
                .map(CustomResourceDefinitionStatus::getConditions)
                .stream()
                .flatMap(List::stream)
                .anyMatch(condition -> condition.getType().equals("Established")
                        && condition.getStatus().equals("True"));
    }

    private void use(Upstream upstream, boolean served) {
        synchronized (written) {
            if (served == written.containsKey(upstream)) {
                return;
            }
            LOG.infof("event=%s definition=%s", served ? "network-found" : "network-gone", upstream.definition());
            if (served) {
                SharedIndexInformer<GenericKubernetesResource> informer = followed(upstream)
                        .withLabel(OperatorConfig.MANAGED_LABEL, OperatorConfig.MANAGER)
                        .runnableInformer(0)
                        .exceptionHandler(
                                (_, failure) -> retries("network-not-followed kind=" + upstream.kind(), failure))
                        .addEventHandler(new Handler<GenericKubernetesResource>(this::tell, this::tell));
                written.put(upstream, informer);
                informer.start();
            } else {
                Objects.requireNonNull(written.remove(upstream)).close();
            }
            if (!telling) {
                missed = known;
                return;
            }
        }
        installationFollowers.forEach(Runnable::run);
    }

    /**
     * Returns the resources to follow. Policies of the SR-IOV network operator are followed in all namespaces, because
     * that operator may have been in another namespace before.
     */
    private FilterWatchListDeletable<GenericKubernetesResource, ?, ?> followed(Upstream upstream) {
        return upstream == Upstream.SRIOV_POLICY
                ? resources(upstream).inAnyNamespace()
                : resources(upstream).inNamespace(namespace(upstream));
    }

    private void tell(GenericKubernetesResource object) {
        object.getMetadata().getOwnerReferences().stream()
                .filter(owner -> owner.getKind().equals(HasMetadata.getKind(IwarpNicPolicy.class)))
                .map(OwnerReference::getName)
                .forEach(policy -> policyFollowers.forEach(follower -> follower.accept(policy)));
    }

    /** Registers {@code follower} for each change of the installed resources, from {@link #tell} on. */
    public void onInstallation(Runnable follower) {
        installationFollowers.add(follower);
    }

    /** Registers {@code follower} for the names of policies whose objects have changed. */
    public void onPolicy(Consumer<String> follower) {
        policyFollowers.add(follower);
    }

    /** Returns whether the SR-IOV network operator is installed and enabled in the settings. */
    public boolean hasSriovOperator() {
        return has(Upstream.SRIOV_POLICY);
    }

    /** Returns whether an upstream resource is installed and enabled in the settings. */
    boolean has(Upstream upstream) {
        synchronized (written) {
            return written.containsKey(upstream) && isToBeUsed(upstream);
        }
    }

    /** Returns whether an upstream resource is enabled in the settings. */
    boolean isToBeUsed(Upstream upstream) {
        return switch (upstream) {
            case SRIOV_POLICY -> config.sriov().enabled();
            case NETWORK -> config.multus().enabled();
        };
    }

    /** Returns the known objects that this operator has written for a policy. */
    List<GenericKubernetesResource> of(Upstream upstream, IwarpNicPolicy policy) {
        synchronized (written) {
            return Stream.ofNullable(written.get(upstream))
                    .flatMap(informer -> informer.getStore().list().stream())
                    .filter(object -> object.hasOwnerReferenceFor(policy))
                    .toList();
        }
    }

    String namespace(Upstream upstream) {
        return upstream == Upstream.SRIOV_POLICY
                ? config.sriov().namespace()
                : config.multus().namespace();
    }

    MixedOperation<GenericKubernetesResource, ?, Resource<GenericKubernetesResource>> resources(Upstream upstream) {
        return client.genericKubernetesResources(upstream.context());
    }

    @Override
    public void close() {
        closed = true;
        definitions.forEach(SharedIndexInformer::close);
        synchronized (written) {
            written.values().forEach(SharedIndexInformer::close);
            written.clear();
        }
    }
}
