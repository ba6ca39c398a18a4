// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.testing.RealApiServer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/**
 * Tests the reconcilers on a real API server that gets, has and loses the definitions of the SR-IOV network operator
 * and Multus.
 */
@RealApiServer
class NetworksTest extends NetworksFixture {
    @Test
    void virtualFunctionsAreMadeByTheSriovNetworkOperatorWhereItIs() {
        install("sriovnetworknodepolicies");
        run();
        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, mtu: 9000");

        agentReports("e810", "8086");

        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .containsEntry("numVfs", 4)
                .containsEntry("mtu", 9000)
                .containsEntry("resourceName", "sidewarp_e810")
                .containsEntry("nicSelector", Map.of("vendor", "8086", "deviceID", "1592")));
        eventually(() -> assertThat(status("e810").resourceName()).isEqualTo("openshift.io/sidewarp_e810"));
        assertThat(status("e810").provisionedBy()).isEqualTo(ProvisionedBy.SRIOV_NETWORK_OPERATOR);
    }

    @Test
    void whatIsInstalledLaterIsUsedFromThenOn() {
        run();
        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, network: {vlan: 7}");
        agentReports("e810", "8086");
        eventually(() -> assertThat(provisionedBy("e810")).isEqualTo(ProvisionedBy.NODE_AGENT));
        eventually(() -> assertThat(reason("e810")).isEqualTo("MultusMissing"));

        install("sriovnetworknodepolicies");
        install("network-attachment-definitions");

        eventually(() -> assertThat(provisionedBy("e810")).isEqualTo(ProvisionedBy.SRIOV_NETWORK_OPERATOR));
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .containsEntry("numVfs", 4));
        eventually(() -> assertThat(spec(Upstream.NETWORK, "e810").get("config"))
                .isEqualTo("{\"cniVersion\":\"0.3.1\",\"name\":\"e810\",\"type\":\"sriov\",\"vlan\":7}"));
        eventually(
                () -> assertThat(object(Upstream.NETWORK, "e810").getMetadata().getAnnotations())
                        .containsEntry(NetworkAttachment.RESOURCE_NAME, "openshift.io/sidewarp_e810"));
        eventually(() -> assertThat(status("e810").network()).isEqualTo(networkNamespace + "/e810"));
    }

    @Test
    void followersHearNothingBeforeTheyHaveTheirCaches() {
        install("sriovnetworknodepolicies");
        List<String> heard = new CopyOnWriteArrayList<>();
        networks.onInstallation(() -> heard.add("change"));

        networks.start();
        operator.start();

        assertThat(networks.hasSriovOperator()).isTrue();
        assertThat(heard).isEmpty();

        install("network-attachment-definitions");
        eventually(() -> assertThat(networks.has(Upstream.NETWORK)).isTrue());
        assertThat(heard).isEmpty();

        networks.tell();

        assertThat(heard).containsExactly("change");
    }

    @Test
    void aNetworkWithoutTheSriovNetworkOperatorIsOfTheNodeAgentsDevices() {
        install("network-attachment-definitions");
        run();

        create("t6", "nicSelector: {vendors: ['1425']}, virtualFunctions: 4, network: {ipam: '{\"type\": \"dhcp\"}'}");

        eventually(() -> assertThat(object(Upstream.NETWORK, "t6").getMetadata().getAnnotations())
                .containsEntry(NetworkAttachment.RESOURCE_NAME, SidewarpApi.RNIC_RESOURCE));
    }

    @Test
    void changesAndRemovalReachWhatWasWritten() {
        install("sriovnetworknodepolicies");
        install("network-attachment-definitions");
        run();
        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, mtu: 9000, network: {}");
        agentReports("e810", "8086");
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .containsEntry("mtu", 9000));
        eventually(() -> assertThat(object(Upstream.NETWORK, "e810")).isNotNull());

        edit("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 2, nodeSelector: {rack: a}");

        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .containsEntry("numVfs", 2)
                .containsEntry("nodeSelector", Map.of("rack", "a"))
                .doesNotContainKey("mtu"));
        eventually(() -> assertThat(find(Upstream.NETWORK, "e810")).isNull());

        client.resources(IwarpNicPolicy.class).withName("e810").delete();

        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .isNull());
    }

    /** Both would offer the virtual functions. */
    @Test
    void whatWasWrittenGoesWhenTheSriovNetworkOperatorIsNotToBeUsedAnyMore() {
        install("sriovnetworknodepolicies");
        run();
        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4");
        agentReports("e810", "8086");
        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .isNotNull());
        operator.stop();
        networks.close();

        make(settings(Map.of("sidewarp.operator.sriov.enabled", "false")));
        run();

        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .isNull());
        eventually(() -> assertThat(provisionedBy("e810")).isEqualTo(ProvisionedBy.NODE_AGENT));
        eventually(() -> assertThat(status("e810").provisionedBy()).isEqualTo(ProvisionedBy.NODE_AGENT));
    }

    @Test
    void anOperatorThatIsAskedForAndNotToBeUsedIsToldAndNotReplaced() {
        install("sriovnetworknodepolicies");
        make(settings(Map.of("sidewarp.operator.sriov.enabled", "false")));
        run();

        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, provisioner: SriovNetworkOperator");

        eventually(() -> assertThat(reason("e810")).isEqualTo("SriovNetworkOperatorMissing"));
        eventually(() -> assertThat(provisionedBy("e810")).isEqualTo(ProvisionedBy.SRIOV_NETWORK_OPERATOR));
    }

    @Test
    void whatSomebodyDeletesOrChangesIsWrittenAgain() {
        install("sriovnetworknodepolicies");
        run();
        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4");
        agentReports("e810", "8086");
        String name = "sidewarp-e810-8086-1592";
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, name)).containsEntry("numVfs", 4));

        networks.resources(Upstream.SRIOV_POLICY)
                .inNamespace(sriovNamespace)
                .withName(name)
                .delete();
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, name)).containsEntry("numVfs", 4));

        networks.resources(Upstream.SRIOV_POLICY)
                .inNamespace(sriovNamespace)
                .withName(name)
                .edit(object -> {
                    Map<String, Object> spec = object.get("spec");
                    spec.put("numVfs", 9);
                    return object;
                });
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, name)).containsEntry("numVfs", 4));
    }

    @Test
    void aRefusalIsToldInTheStatusAndByAnEvent() {
        install("sriovnetworknodepolicies");
        run();
        create("qlogic", "nicSelector: {vendors: ['1077']}, virtualFunctions: 4");

        agentReports("qlogic", "1077");

        eventually(() -> assertThat(reason("qlogic")).isEqualTo("SriovNetworkOperatorRefused"));
        assertThat(condition("qlogic").type()).isEqualTo(StatusCondition.DEGRADED);
        assertThat(condition("qlogic").message())
                .startsWith("SriovNetworkNodePolicy " + sriovNamespace + "/sidewarp-qlogic-1077-1592")
                .contains("spec.nicSelector.vendor: Unsupported value: \"1077\"");
        eventually(() -> assertThat(
                        client.v1().events().inNamespace("default").list().getItems())
                .anySatisfy(event -> {
                    assertThat(event.getInvolvedObject().getName()).isEqualTo("qlogic");
                    assertThat(event.getReason()).isEqualTo("SriovNetworkOperatorRefused");
                    assertThat(event.getType()).isEqualTo("Warning");
                }));
    }

    @Test
    void aNetworkOfSomebodyElseIsLeftAlone() {
        install("network-attachment-definitions");
        run();
        client.resource(Yaml.parse(
                        "{apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: taken, namespace: "
                                + networkNamespace + "}, spec: {config: theirs}}",
                        GenericKubernetesResource.class))
                .create();

        create("taken", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, network: {}");

        eventually(() -> assertThat(reason("taken")).isEqualTo("NetworkRefused"));
        assertThat(condition("taken").message()).contains("already exists");
        assertThat(spec(Upstream.NETWORK, "taken")).containsEntry("config", "theirs");
    }

    @Test
    void anOperatorThatIsAskedForAndMissingIsToldAndNotReplaced() {
        run();

        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, provisioner: SriovNetworkOperator");

        eventually(() -> assertThat(reason("e810")).isEqualTo("SriovNetworkOperatorMissing"));
        eventually(() -> assertThat(provisionedBy("e810")).isEqualTo(ProvisionedBy.SRIOV_NETWORK_OPERATOR));
    }

    @Test
    void thePriorityIsTheRankAmongAllPolicies() {
        install("sriovnetworknodepolicies");
        run();
        create("b", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, priority: 500");
        agentReports("b", "8086");
        eventually(() ->
                assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-b-8086-1592")).containsEntry("priority", 0));

        create("a", "nicSelector: {vendors: ['1425']}, priority: 501");

        eventually(() ->
                assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-b-8086-1592")).containsEntry("priority", 1));
    }
}
