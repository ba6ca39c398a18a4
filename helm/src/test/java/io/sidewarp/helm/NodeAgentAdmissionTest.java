// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests on a real API server that the token of a node agent is good for its own node only. */
@RealApiServer
class NodeAgentAdmissionTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final PatchContext APPLY = new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager("helm-test")
            .withForce(true)
            .build();
    private static final String ACCOUNT = "sidewarp-node-agent";
    private static final ResourceDefinitionContext SLICES = new ResourceDefinitionContext.Builder()
            .withGroup("resource.k8s.io")
            .withVersion("v1")
            .withKind("ResourceSlice")
            .withPlural("resourceslices")
            .withNamespaced(false)
            .build();
    private static final Set<String> KINDS = Set.of(
            "Namespace",
            "ServiceAccount",
            "ClusterRole",
            "ClusterRoleBinding",
            "CustomResourceDefinition",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding");

    private final List<HasMetadata> applied = new ArrayList<>();
    private final KubeApiServer server;
    private final KubernetesClient client;

    NodeAgentAdmissionTest(KubeApiServer server) {
        this.server = server;
        client = server.client();
    }

    @BeforeEach
    void install() {
        assumeTrue(
                server.version().hasAdmissionPolicies(),
                "API server " + server.version() + " has no ValidatingAdmissionPolicy, which came with 1.30");
        String version = client.getKubernetesVersion().getGitVersion().replaceFirst("^v", "");
        Chart.objects(Chart.render(version, "createNamespace=true")).stream()
                .filter(object -> KINDS.contains(object.getKind()))
                .forEach(this::apply);
        client.resources(CustomResourceDefinition.class)
                .withName("iwarpnodes.sidewarp.io")
                .waitUntilCondition(
                        definition -> definition.getStatus().getConditions().stream()
                                .anyMatch(condition -> condition.getType().equals("Established")
                                        && condition.getStatus().equals("True")),
                        LIMIT.toSeconds(),
                        TimeUnit.SECONDS);
        for (String node : List.of("here", "there")) {
            await().atMost(LIMIT)
                    .ignoreException(KubernetesClientException.class)
                    .untilAsserted(() -> apply("{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNode, metadata: {name: "
                            + node + "}, spec: {policies: []}}"));
        }
    }

    @AfterEach
    void deleteAll() {
        applied.reversed().stream()
                .filter(object -> !object.getKind().equals("Namespace"))
                .forEach(object -> client.resource(object).withGracePeriod(0).delete());
    }

    @Test
    void anAgentReportsTheStateOfItsOwnNodeOnly() {
        KubernetesClient agent = server.clientForPod(agentOn("here"));

        awaitRefusal(
                () -> report(agent, "there"),
                "The node agent of node here may not change iwarpnodes there of node there");
        assertThat(report(agent, "here").getStatus().devices()).isEqualTo(1);
    }

    @Test
    void aTokenOfNoNodeReportsNothing() {
        KubernetesClient agent = server.clientForServiceAccount(Chart.NAMESPACE, ACCOUNT);

        awaitRefusal(() -> report(agent, "here"), "The token of the node agent names no node");
    }

    @Test
    void othersWithTheRightAreNotHindered() {
        KubernetesClient agent = server.clientForPod(agentOn("here"));
        awaitRefusal(() -> report(agent, "there"), "of node there");

        assertThat(report(client, "there").getStatus().devices()).isEqualTo(1);
    }

    @Test
    void anAgentOffersDevicesOfItsOwnNodeOnly() {
        assumeTrue(
                client.hasApiGroup("resource.k8s.io", true)
                        && client.getApiGroup("resource.k8s.io").getVersions().stream()
                                .anyMatch(version -> version.getVersion().equals("v1")),
                "the API server has no ResourceSlice v1, which came with 1.34");
        // The test gives the permission, so that it does not depend on those of the chart.
        apply(
                "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: slices-of-the-test}, rules: ["
                        + "{apiGroups: [resource.k8s.io], resources: [resourceslices], verbs: [create, patch, delete]}]}");
        apply(
                "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: slices-of-the-test},"
                        + " roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: slices-of-the-test}, subjects:"
                        + " [{kind: ServiceAccount, namespace: " + Chart.NAMESPACE + ", name: " + ACCOUNT + "}]}");
        KubernetesClient here = server.clientForPod(agentOn("here"));
        KubernetesClient there = server.clientForPod(agentOn("there"));

        awaitRefusal(
                () -> slices(here).resource(slice("nodeName: there")).create(),
                "The node agent of node here may not change resourceslices of-the-test of node there");
        awaitRefusal(
                () -> slices(here).resource(slice("allNodes: true")).create(),
                "The node agent of node here may not change resourceslices of-the-test of no node");
        awaitRefusal(
                () -> slices(there)
                        .resource(slice("nodeName: there", "gpu.example.com"))
                        .create(),
                "A node agent may change ResourceSlices of the driver rnic.sidewarp.io only");
        slices(there).resource(slice("nodeName: there")).create();
        GenericKubernetesResource changed = slice("nodeName: there");
        changed.getMetadata().setLabels(Map.of("changed", "true"));
        awaitRefusal(() -> slices(here).resource(changed).patch(APPLY), "of node there");
        awaitRefusal(() -> slices(here).withName("of-the-test").delete(), "of node there");
        slices(there).withName("of-the-test").delete();
        assertThat(slices(client).withName("of-the-test").get()).isNull();
    }

    private static MixedOperation<
                    GenericKubernetesResource, GenericKubernetesResourceList, Resource<GenericKubernetesResource>>
            slices(KubernetesClient by) {
        return by.genericKubernetesResources(SLICES);
    }

    private static GenericKubernetesResource slice(String where) {
        return slice(where, "rnic.sidewarp.io");
    }

    private static GenericKubernetesResource slice(String where, String driver) {
        return Serialization.unmarshal(
                "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: of-the-test}, spec: {driver: "
                        + driver + ", pool: {name: pool, generation: 1, resourceSliceCount: 1}, " + where
                        + ", devices: []}}",
                GenericKubernetesResource.class);
    }

    /** Creates a pod of the node agent, as if the scheduler had chosen a node. */
    private Pod agentOn(String node) {
        return (Pod) apply("{apiVersion: v1, kind: Pod, metadata: {name: agent-" + node + ", namespace: "
                + Chart.NAMESPACE + "}, spec: {serviceAccountName: " + ACCOUNT + ", nodeName: " + node
                + ", containers: [{name: node-agent, image: example}]}}");
    }

    private static IwarpNode report(KubernetesClient by, String node) {
        IwarpNode report = Serialization.unmarshal(
                "---\n{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNode, metadata: {name: " + node
                        + "}, status: {devices: 1}}",
                IwarpNode.class);
        return by.resource(report).subresource("status").patch(APPLY);
    }

    /** The API server heeds new policies and permissions after a short time. */
    private static void awaitRefusal(ThrowingCallable call, String message) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThatThrownBy(call)
                        .isInstanceOfSatisfying(
                                KubernetesClientException.class,
                                refusal -> assertThat(refusal.getCode()).isEqualTo(HttpURLConnection.HTTP_FORBIDDEN))
                        .hasMessageContaining(message));
    }

    private HasMetadata apply(String yaml) {
        return apply(client.resource("---\n" + yaml).item());
    }

    private HasMetadata apply(HasMetadata object) {
        HasMetadata created = client.resource(object)
                .fieldManager("helm-test")
                .forceConflicts()
                .serverSideApply();
        applied.add(created);
        return created;
    }
}
