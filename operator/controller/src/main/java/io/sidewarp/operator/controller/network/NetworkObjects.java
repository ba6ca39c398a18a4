// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.NetworkSpec;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.network.NetworkState.Problem;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.HttpURLConnection;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Writes the objects by which the SR-IOV network operator and Multus carry out a policy. The policy owns these objects.
 */
@ApplicationScoped
public class NetworkObjects {
    /** Members that only some specifications contain. All other members are written always or never. */
    private static final Set<String> OPTIONAL_MEMBERS = Set.of(SriovPolicies.MTU);

    private static final int TOO_MANY_REQUESTS = 429;

    /** Reason of the API server for refusing to write an object that was changed concurrently. */
    private static final String CONFLICT = "Conflict";

    private final InstalledNetworks installed;
    private final OperatorConfig config;

    public NetworkObjects(InstalledNetworks installed, OperatorConfig config) {
        this.installed = installed;
        this.config = config;
    }

    /**
     * Writes objects that differ, and removes objects that are no longer wanted.
     *
     * @param rank number of policies that come before this policy
     * @param nodes all nodes
     * @param complete whether all nodes of the policy have reported their NICs. Until then no virtual functions are
     *     removed, because pods of an unreported node may use them
     */
    public NetworkState apply(IwarpNicPolicy policy, int rank, Collection<IwarpNode> nodes, boolean complete) {
        ProvisionedBy provisionedBy = policy.getSpec().provisionedBy(installed.hasSriovOperator());
        String resource = resourceName(policy, provisionedBy);
        Optional<Problem> problem = sriov(policy, provisionedBy, rank, nodes, complete);
        Optional<Problem> networkProblem = network(policy, resource);
        boolean hasNetwork = policy.getSpec().network() != null && networkProblem.isEmpty();
        return new NetworkState(
                provisionedBy,
                hasNetwork ? Optional.of(networkName(policy)) : Optional.empty(),
                resource,
                problem.or(() -> networkProblem));
    }

    /** Removes all objects that were written for a policy. */
    public void remove(IwarpNicPolicy policy) {
        for (Upstream upstream : Upstream.values()) {
            keep(upstream, policy, Set.of());
        }
    }

    private String resourceName(IwarpNicPolicy policy, ProvisionedBy provisionedBy) {
        return provisionedBy == ProvisionedBy.NODE_AGENT
                ? SidewarpApi.RNIC_RESOURCE
                : config.sriov().resourcePrefix() + "/"
                        + SriovPolicies.resourceName(policy.getMetadata().getName());
    }

    private String networkName(IwarpNicPolicy policy) {
        return config.multus().namespace() + "/" + policy.getMetadata().getName();
    }

    private Optional<Problem> sriov(
            IwarpNicPolicy policy,
            ProvisionedBy provisionedBy,
            int rank,
            Collection<IwarpNode> nodes,
            boolean complete) {
        if (provisionedBy == ProvisionedBy.NODE_AGENT) {
            keep(Upstream.SRIOV_POLICY, policy, Set.of());
            return Optional.empty();
        }
        if (!installed.has(Upstream.SRIOV_POLICY)) {
            return Optional.of(new Problem(
                    "SriovNetworkOperatorMissing",
                    "provisioner is SriovNetworkOperator, and the cluster has no definition "
                            + Upstream.SRIOV_POLICY.definition()
                            + " (or sidewarp.operator.sriov.enabled is false); install"
                            + " that operator, or set provisioner to NodeAgent"));
        }
        SriovPolicies derived = SriovPolicies.of(policy, rank, nodes);
        if (derived.refusal().isPresent()) {
            // Existing objects stay. Their removal would remove the virtual functions, and with them the pods'
            // networks.
            return Optional.of(new Problem("NotExpressible", derived.refusal().get()));
        }
        for (Map.Entry<String, Map<String, Object>> spec : derived.specs().entrySet()) {
            Optional<Problem> refused = write(new Wanted(
                    Upstream.SRIOV_POLICY,
                    policy,
                    spec.getKey(),
                    Map.of(),
                    present -> complete ? spec.getValue() : SriovPolicies.widened(spec.getValue(), present)));
            if (refused.isPresent()) {
                return refused;
            }
        }
        if (complete) {
            keep(Upstream.SRIOV_POLICY, policy, derived.specs().keySet());
        }
        return Optional.empty();
    }

    private Optional<Problem> network(IwarpNicPolicy policy, String resource) {
        NetworkSpec network = policy.getSpec().network();
        if (network == null || !installed.isToBeUsed(Upstream.NETWORK)) {
            keep(Upstream.NETWORK, policy, Set.of());
        }
        if (network == null) {
            return Optional.empty();
        }
        if (!installed.has(Upstream.NETWORK)) {
            return Optional.of(new Problem(
                    "MultusMissing",
                    "the policy has a network, and the cluster has no definition " + Upstream.NETWORK.definition()
                            + " (or sidewarp.operator.multus.enabled is false); install Multus, or remove network"));
        }
        String name = policy.getMetadata().getName();
        String configuration;
        try {
            configuration = NetworkAttachment.configuration(
                    name, network, policy.getSpec().mtu());
        } catch (IllegalArgumentException e) {
            return Optional.of(new Problem(
                    "InvalidNetwork", "network.ipam is no configuration of an IPAM plugin: " + e.getMessage()));
        }
        return write(new Wanted(
                Upstream.NETWORK,
                policy,
                name,
                Map.of(NetworkAttachment.RESOURCE_NAME, resource),
                present -> Map.of("config", configuration)));
    }

    /**
     * An object that carries out a part of a policy.
     *
     * @param spec derives the specification from the present one, which is empty if there is no object yet
     */
    private record Wanted(
            Upstream upstream,
            IwarpNicPolicy policy,
            String name,
            Map<String, String> annotations,
            UnaryOperator<Map<String, Object>> spec) {}

    private Optional<Problem> write(Wanted wanted) {
        Upstream upstream = wanted.upstream();
        Optional<GenericKubernetesResource> known = installed.of(upstream, wanted.policy()).stream()
                .filter(object -> isInItsNamespace(upstream, object)
                        && object.getMetadata().getName().equals(wanted.name()))
                .findFirst();
        try {
            try {
                write(wanted, known);
            } catch (KubernetesClientException e) {
                if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
                    throw e;
                }
                // The object was written before and is not in the cache yet, or another writer was faster.
                Optional<GenericKubernetesResource> found = Optional.ofNullable(
                        objects(upstream).withName(wanted.name()).get());
                if (found.isPresent() && !found.get().hasOwnerReferenceFor(wanted.policy())) {
                    // The object belongs to somebody else and stays unchanged.
                    throw e;
                }
                write(wanted, found);
            }
            return Optional.empty();
        } catch (KubernetesClientException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            return Optional.of(new Problem(
                    upstream == Upstream.SRIOV_POLICY ? "SriovNetworkOperatorRefused" : "NetworkRefused",
                    upstream.kind() + " " + installed.namespace(upstream) + "/" + wanted.name() + ": " + reasonOf(e)));
        }
    }

    private void write(Wanted wanted, Optional<GenericKubernetesResource> present) {
        Map<String, Object> spec =
                wanted.spec().apply(present.map(NetworkObjects::specification).orElseGet(Map::of));
        if (present.isPresent() && says(present.get(), wanted.annotations(), spec)) {
            return;
        }
        GenericKubernetesResource object = object(wanted, spec);
        Resource<GenericKubernetesResource> resource =
                objects(wanted.upstream()).resource(object);
        if (present.isEmpty()) {
            resource.create();
        } else {
            object.getMetadata().setResourceVersion(present.get().getMetadata().getResourceVersion());
            resource.update();
        }
    }

    private NonNamespaceOperation<GenericKubernetesResource, ?, Resource<GenericKubernetesResource>> objects(
            Upstream upstream) {
        return installed.resources(upstream).inNamespace(installed.namespace(upstream));
    }

    /**
     * Returns whether the written object caused the failure. Other causes are the API server's state, missing
     * credentials, and concurrent writers.
     */
    private static boolean isRefusal(KubernetesClientException e) {
        return switch (e.getCode()) {
            case HttpURLConnection.HTTP_UNAUTHORIZED, TOO_MANY_REQUESTS -> false;
            // Any other reason means that another owner has the name.
            case HttpURLConnection.HTTP_CONFLICT ->
                e.getStatus() == null || !CONFLICT.equals(e.getStatus().getReason());
            default ->
                e.getCode() >= HttpURLConnection.HTTP_BAD_REQUEST
                        && e.getCode() < HttpURLConnection.HTTP_INTERNAL_ERROR;
        };
    }

    private GenericKubernetesResource object(Wanted wanted, Map<String, Object> spec) {
        GenericKubernetesResource object = new GenericKubernetesResource();
        object.setApiVersion(wanted.upstream().apiVersion());
        object.setKind(wanted.upstream().kind());
        object.setMetadata(new ObjectMetaBuilder()
                .withNamespace(installed.namespace(wanted.upstream()))
                .withName(wanted.name())
                .withAnnotations(new TreeMap<>(wanted.annotations()))
                .addToLabels(OperatorConfig.MANAGED_LABEL, OperatorConfig.MANAGER)
                .build());
        object.addOwnerReference(wanted.policy());
        object.setAdditionalProperty("spec", spec);
        return object;
    }

    /** Removes objects that have none of the names, or are in a namespace that is no longer used. */
    private void keep(Upstream upstream, IwarpNicPolicy policy, Set<String> names) {
        installed.of(upstream, policy).stream()
                .filter(object -> !isInItsNamespace(upstream, object)
                        || !names.contains(object.getMetadata().getName()))
                .forEach(object -> installed
                        .resources(upstream)
                        .inNamespace(object.getMetadata().getNamespace())
                        .withName(object.getMetadata().getName())
                        .delete());
    }

    private boolean isInItsNamespace(Upstream upstream, GenericKubernetesResource object) {
        return object.getMetadata().getNamespace().equals(installed.namespace(upstream));
    }

    /** Returns whether an object has everything that is wanted. Additions by the API server or others do not matter. */
    private static boolean says(
            GenericKubernetesResource present, Map<String, String> annotations, Map<String, Object> spec) {
        Map<String, String> presentAnnotations = present.getMetadata().getAnnotations();
        Map<String, Object> found = specification(present);
        return found.entrySet().containsAll(spec.entrySet())
                && OPTIONAL_MEMBERS.stream().allMatch(member -> spec.containsKey(member) || !found.containsKey(member))
                && (presentAnnotations == null ? Map.of() : presentAnnotations)
                        .entrySet()
                        .containsAll(annotations.entrySet());
    }

    private static Map<String, Object> specification(GenericKubernetesResource object) {
        Map<String, Object> spec = object.get("spec");
        return spec == null ? Map.of() : spec;
    }

    private static String reasonOf(KubernetesClientException e) {
        String message = e.getStatus() == null ? null : e.getStatus().getMessage();
        return message == null ? String.valueOf(e.getMessage()) : message;
    }
}
