// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.VersionInfo;
import io.sidewarp.operator.controller.Yaml;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KubernetesFeatureTest {

    @ParameterizedTest
    @CsvSource({"1, 28, false", "1, 28+, false", "1, 29, true", "1, 29+, true", "1, 30, true", "2, 0, true"})
    void apiServerHasAFeatureSinceItsVersion(String major, String minor, boolean expected) {
        VersionInfo version =
                new VersionInfo.Builder().withMajor(major).withMinor(minor).build();

        assertThat(KubernetesFeature.NATIVE_SIDECARS.isIn(version)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "v1.26.15, linux, false",
        "v1.27.3+k3s1, linux, false",
        "v1.28.9-eks-036c24b, linux, false",
        "v1.29.0, linux, true",
        "v1.29.0-rc.1, linux, true",
        "v1.30.2+rke2r1, linux, true",
        "v2.0.0, linux, true",
        "v1.27.3, windows, true",
        "'', linux, true",
        "fake, linux, true",
    })
    void oneLinuxNodeWithAnOldKubeletSuffices(String kubelet, String system, boolean expected) {
        Kubelets kubelets = new Kubelets();
        kubelets.put("new", node("", "v1.36.2", "linux"));

        kubelets.put("other", node("", kubelet, system));

        assertThat(kubelets.have(KubernetesFeature.NATIVE_SIDECARS)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"v1.33.9, false, false", "v1.34.0, true, false", "v1.35.6, true, false", "v1.36.0, true, true"})
    void claimsForExtendedResourcesAreYoungerThanClaims(String kubelet, boolean claims, boolean extended) {
        Kubelets kubelets = new Kubelets();

        kubelets.put("a", node("", kubelet, "linux"));

        assertThat(kubelets.have(KubernetesFeature.RESOURCE_CLAIMS)).isEqualTo(claims);
        assertThat(kubelets.have(KubernetesFeature.EXTENDED_RESOURCE_CLAIMS)).isEqualTo(extended);
    }

    @ParameterizedTest
    @CsvSource({
        "'metadata: {name: a}'",
        "'metadata: {name: a}, status: {}'",
        "'metadata: {name: a}, status: {nodeInfo: {}}'"
    })
    void nodeWithoutAVersionCountsAsNew(String node) {
        Kubelets kubelets = new Kubelets();

        kubelets.put("a", Yaml.parse("{apiVersion: v1, kind: Node, " + node + "}", Node.class));

        assertThat(kubelets.have(KubernetesFeature.NATIVE_SIDECARS)).isTrue();
    }

    /** The version of a virtual node is that of another program, and never changes. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "type: virtual-kubelet | true",
                "type: gpu | false",
                "eks.amazonaws.com/compute-type: fargate | true",
                "eks.amazonaws.com/compute-type: ec2 | false",
                "node-role.kubernetes.io/virtual-node: '' | true",
                "liqo.io/type: virtual-node | true",
            })
    void virtualNodeDoesNotCount(String label, boolean expected) {
        Kubelets kubelets = new Kubelets();

        kubelets.put("a", node("labels: {" + label + "}", "v1.14.3-vk-azure-aci", "linux"));

        assertThat(kubelets.have(KubernetesFeature.NATIVE_SIDECARS)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "containerd://1.7.28, false",
        "containerd://2.1.4, true",
        "cri-o://1.34.1, true",
    })
    void runtimeMustGiveContainersTheDevicesOfClaims(String runtime, boolean expected) {
        Kubelets kubelets = new Kubelets();
        Node node = node("", "v1.34.1", "linux");
        node.getStatus().getNodeInfo().setContainerRuntimeVersion(runtime);

        kubelets.put("a", node);

        assertThat(kubelets.have(KubernetesFeature.RESOURCE_CLAIMS)).isEqualTo(expected);
        assertThat(kubelets.have(KubernetesFeature.NATIVE_SIDECARS)).isTrue();
        assertThat(Kubelets.isNews(node("", "v1.34.1", "linux"), node)).isTrue();
    }

    @Test
    void onlyVersionAndKindOfANodeAreNews() {
        Node former = node("resourceVersion: '1'", "v1.33.1", "linux");

        assertThat(Kubelets.isNews(former, node("resourceVersion: '2'", "v1.33.1", "linux")))
                .isFalse();
        assertThat(Kubelets.isNews(former, node("", "v1.34.0", "linux"))).isTrue();
        assertThat(Kubelets.isNews(former, node("labels: {type: virtual-kubelet}", "v1.33.1", "linux")))
                .isTrue();
    }

    @Test
    void storeKeepsOnlyWhatTheDecisionNeeds() {
        Kubelets store = new Kubelets();

        store.put("a", Yaml.parse("""
                {apiVersion: v1, kind: Node, metadata: {name: a, uid: u, resourceVersion: '7', labels: {rack: a}},
                 status: {images: [{names: [x]}], nodeInfo: {kubeletVersion: v1.28.9, operatingSystem: linux, osImage: x}}}
                """, Node.class));

        assertThat(store.get("a")).isEqualTo(Yaml.parse("""
                {apiVersion: v1, kind: Node, metadata: {name: a, uid: u, resourceVersion: '7'},
                 status: {nodeInfo: {kubeletVersion: v1.28.9, operatingSystem: linux}}}
                """, Node.class));
    }

    private static Node node(String metadata, String kubelet, String system) {
        String more = metadata.isEmpty() ? "" : ", " + metadata;
        return Yaml.parse(
                "{apiVersion: v1, kind: Node, metadata: {name: a" + more + "}, status: {nodeInfo: {kubeletVersion: '"
                        + kubelet + "', operatingSystem: " + system + "}}}",
                Node.class);
    }
}
