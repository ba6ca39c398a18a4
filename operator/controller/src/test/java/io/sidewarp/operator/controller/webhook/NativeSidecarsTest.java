// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.VersionInfo;
import io.sidewarp.operator.controller.Yaml;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NativeSidecarsTest {

    @ParameterizedTest
    @CsvSource({"1, 28, false", "1, 28+, false", "1, 29, true", "1, 29+, true", "1, 30, true", "2, 0, true"})
    void anApiServerHasThemFromItsVersionOn(String major, String minor, boolean expected) {
        VersionInfo version =
                new VersionInfo.Builder().withMajor(major).withMinor(minor).build();

        assertThat(NativeSidecars.areIn(version)).isEqualTo(expected);
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
    void aLinuxNodeHoldsThemBackUntilItsKubeletHasThem(String kubelet, String system, boolean expected) {
        Node node = Yaml.parse(
                "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {nodeInfo: {kubeletVersion: '" + kubelet
                        + "', operatingSystem: " + system + "}}}",
                Node.class);

        assertThat(NativeSidecars.areIn(node)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"{apiVersion: v1}", "'{apiVersion: v1, status: {}}'", "'{apiVersion: v1, status: {nodeInfo: {}}}'"})
    void aNodeThatSaysNothingOfItselfDoesNot(String node) {
        assertThat(NativeSidecars.areIn(Yaml.parse(node, Node.class))).isTrue();
    }

    /** Its version, of another program, stays what it is for ever. */
    @ParameterizedTest
    @CsvSource({"virtual-kubelet, true", "gpu, false"})
    void aVirtualNodeDoesNot(String type, boolean expected) {
        NativeSidecars.Kubelets store = new NativeSidecars.Kubelets();

        store.put(
                "a",
                Yaml.parse(
                        "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {type: " + type
                                + "}}, status: {nodeInfo: {kubeletVersion: v1.14.3-vk-azure-aci, operatingSystem: linux}}}",
                        Node.class));

        assertThat(store.values()).singleElement().matches(node -> NativeSidecars.areIn(node) == expected);
    }

    @Test
    void theStoreKeepsOfANodeWhatTellsThem() {
        NativeSidecars.Kubelets store = new NativeSidecars.Kubelets();

        store.put("a", Yaml.parse("""
                {apiVersion: v1, kind: Node, metadata: {name: a, uid: u, resourceVersion: '7', labels: {rack: a}},
                 status: {images: [{names: [x]}], nodeInfo: {kubeletVersion: v1.28.9, operatingSystem: linux, osImage: x}}}
                """, Node.class));

        assertThat(store.get("a")).isEqualTo(Yaml.parse("""
                {apiVersion: v1, kind: Node, metadata: {name: a, uid: u, resourceVersion: '7'},
                 status: {nodeInfo: {kubeletVersion: v1.28.9, operatingSystem: linux}}}
                """, Node.class));
    }
}
