// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * Tests the resources that the controller wrote for the SR-IOV network operator and Multus, while nodes, settings and
 * resources of others change.
 */
@RealApiServer
class WrittenNetworksTest extends NetworksFixture {
    private static final String FUNCTIONS = "nicSelector: {vendors: ['8086']}, virtualFunctions: ";

    @Test
    void aWriteThatSomebodyWasFasterWithIsNoRefusal() {
        install("sriovnetworknodepolicies");
        String name = "sidewarp-raced-8086-1592";
        AtomicBoolean isRaced = new AtomicBoolean();
        Interceptor racing = new Interceptor() {
            @Override
            public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
                if (request.method().equals("PUT")
                        && request.uri().getPath().endsWith(name)
                        && isRaced.compareAndSet(false, true)) {
                    client.genericKubernetesResources(Upstream.SRIOV_POLICY.context())
                            .inNamespace(sriovNamespace)
                            .withName(name)
                            .edit(object -> {
                                object.getMetadata().setAnnotations(Map.of("edited", "meanwhile"));
                                return object;
                            });
                }
            }
        };
        make(
                config,
                new KubernetesClientBuilder()
                        .withConfig(client.getConfiguration())
                        .withHttpClientBuilderConsumer(builder -> builder.addOrReplaceInterceptor("racing", racing))
                        .build());
        run();
        create("raced", FUNCTIONS + 4);
        agentReports("raced", "8086");
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, name)).containsEntry("numVfs", 4));

        edit("raced", FUNCTIONS + 2);

        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, name)).containsEntry("numVfs", 2));
        assertThat(isRaced).isTrue();
        eventually(() -> assertThat(status("raced").observedGeneration())
                .isEqualTo(client.resources(IwarpNicPolicy.class)
                        .withName("raced")
                        .get()
                        .getMetadata()
                        .getGeneration()));
        assertThat(client.v1().events().inNamespace("default").list().getItems())
                .filteredOn(event -> event.getInvolvedObject().getName().equals("raced"))
                .extracting(Event::getReason)
                .doesNotContain("SriovNetworkOperatorRefused");
    }

    /** Its pods may use the virtual functions. */
    @Test
    void virtualFunctionsOfANodeThatHasNotReportedYetStay() {
        install("sriovnetworknodepolicies");
        run();
        create("e810", FUNCTIONS + 4);
        agentReports("e810", "8086");
        String name = "sidewarp-e810-8086-1592";
        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, name)).isNotNull());
        String uid = object(Upstream.SRIOV_POLICY, name).getMetadata().getUid();

        client.resources(IwarpNode.class).withName(NODE).delete();

        eventually(() -> assertThat(reason("e810")).isEqualTo("NoNodeAgent"));
        assertThat(object(Upstream.SRIOV_POLICY, name).getMetadata().getUid()).isEqualTo(uid);

        // The new report of the node counts: its NIC is of another vendor.
        agentReports("e810", "1425");

        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, name)).isNull());
    }

    @Test
    void virtualFunctionsOfANodeThatReportsNoMoreGoInTheEnd() {
        install("sriovnetworknodepolicies");
        make(settings(Map.of("sidewarp.operator.restore-timeout", "0s")));
        run();
        create("e810", FUNCTIONS + 4);
        agentReports("e810", "8086");
        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .isNotNull());

        client.resources(IwarpNode.class).withName(NODE).delete();

        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .isNull());
    }

    @Test
    void whatWasWrittenInAnotherNamespaceGoesWhenTheSriovNetworkOperatorIsInThisOne(TestNamespaces namespaces) {
        install("sriovnetworknodepolicies");
        String former = namespaces.create();
        make(settings(Map.of("sidewarp.operator.sriov.namespace", former)));
        run();
        create("e810", FUNCTIONS + 4);
        agentReports("e810", "8086");
        var inFormer = client.genericKubernetesResources(Upstream.SRIOV_POLICY.context())
                .inNamespace(former)
                .withName("sidewarp-e810-8086-1592");
        eventually(() -> assertThat(inFormer.get()).isNotNull());
        operator.stop();
        networks.close();

        make(config);
        run();

        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .isNotNull());
        eventually(() -> assertThat(inFormer.get()).isNull());
    }

    @Test
    void networksGoWhenMultusIsNotToBeUsedAnyMore() {
        install("network-attachment-definitions");
        run();
        create("t6", "nicSelector: {vendors: ['1425']}, virtualFunctions: 4, network: {}");
        eventually(() -> assertThat(find(Upstream.NETWORK, "t6")).isNotNull());
        operator.stop();
        networks.close();

        make(settings(Map.of("sidewarp.operator.multus.enabled", "false")));
        run();

        eventually(() -> assertThat(find(Upstream.NETWORK, "t6")).isNull());
        eventually(() -> assertThat(reason("t6")).isEqualTo("MultusMissing"));
    }
}
