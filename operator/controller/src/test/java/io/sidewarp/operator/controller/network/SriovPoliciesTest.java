// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.controller.Yaml;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SriovPoliciesTest {
    private static final String E810 = "vendor: '8086', device: '1592'";
    private static final String X722 = "vendor: '8086', device: '37d0'";

    @Test
    void saysWhatThePolicySaysInTheirWords() {
        IwarpNicPolicy policy =
                policy("fast.e-1", "nodeSelector: {rack: a}, nicSelector: {vendors: ['8086']}, mtu: 9000");

        SriovPolicies derived =
                SriovPolicies.of(policy, 3, List.of(node("a", "fast.e-1", nic("e0", E810, "fast.e-1"))));

        assertThat(derived.refusal()).isEmpty();
        assertThat(derived.specs())
                .containsExactly(Map.entry(
                        "sidewarp-fast.e-1-8086-1592",
                        Map.of(
                                "resourceName",
                                "sidewarp_fastDe_1",
                                "nodeSelector",
                                Map.of("rack", "a"),
                                "priority",
                                3,
                                "nicSelector",
                                Map.of("vendor", "8086", "deviceID", "1592"),
                                "numVfs",
                                4,
                                "mtu",
                                9000,
                                "deviceType",
                                "netdevice",
                                "isRdma",
                                true)));
    }

    @Test
    void thereIsOneForEachModelThatThePolicyRules() {
        IwarpNicPolicy policy = policy("p", "nicSelector: {vendors: ['8086', '1425']}");

        SriovPolicies derived = SriovPolicies.of(
                policy,
                0,
                List.of(
                        node("a", "p", nic("e0", E810, "p"), nic("e1", X722, "p")),
                        node("b", "p", nic("e0", E810, "p"), nic("e9", "vendor: '15b3', device: '1017'", null))));

        assertThat(derived.specs().keySet()).containsExactly("sidewarp-p-8086-1592", "sidewarp-p-8086-37d0");
    }

    @Test
    void patternsOfNamesBecomeTheNamesThatMatch() {
        IwarpNicPolicy policy = policy("p", "nicSelector: {pfNames: ['ens*'], pciAddresses: ['0000:00:00.ens1', x]}");

        SriovPolicies derived = SriovPolicies.of(
                policy,
                0,
                List.of(
                        node("a", "p", nic("ens1", E810, "p"), nic("eth0", E810, null)),
                        node("b", "p", nic("ens2", E810, "p"))));

        assertThat(derived.specs().get("sidewarp-p-8086-1592").get("nicSelector"))
                .isEqualTo(Map.of(
                        "vendor",
                        "8086",
                        "deviceID",
                        "1592",
                        "pfNames",
                        List.of("ens1", "ens2"),
                        "rootDevices",
                        List.of("0000:ens1", "0000:ens2")));
    }

    @Test
    void namesOfNicsThatAreThereCanBeKept() {
        IwarpNicPolicy policy = policy("p", "nicSelector: {pfNames: ['ens*']}");
        Map<String, Object> spec = SriovPolicies.of(policy, 0, List.of(node("a", "p", nic("ens2", E810, "p"))))
                .specs()
                .get("sidewarp-p-8086-1592");
        Map<String, Object> present = Map.of(
                "numVfs", 9, "nicSelector", Map.of("pfNames", List.of("ens1", "ens2"), "rootDevices", List.of("x")));

        Map<String, Object> widened = SriovPolicies.widened(spec, present);

        assertThat(widened)
                .containsEntry("numVfs", 4)
                .containsEntry(
                        "nicSelector",
                        Map.of("vendor", "8086", "deviceID", "1592", "pfNames", List.of("ens1", "ens2")));
        assertThat(SriovPolicies.widened(spec, Map.of())).isEqualTo(spec);
    }

    @Test
    void refusesWhatWouldTakeANicThatThePolicyDoesNotSelect() {
        IwarpNicPolicy policy = policy("p", "nicSelector: {drivers: [ice]}");

        SriovPolicies derived = SriovPolicies.of(
                policy, 0, List.of(node("a", "p", nic("e0", E810, "p"), nic("0000:af:00.0", E810, null))));

        assertThat(derived.specs()).isEmpty();
        assertThat(derived.refusal())
                .hasValueSatisfying(why -> assertThat(why).contains("would also take 0000:af:00.0 of node a"));
    }

    @Test
    void aNicThatAPolicyOfHigherRankRulesIsNotTaken() {
        IwarpNicPolicy policy = policy("low", "nicSelector: {vendors: ['8086']}");

        SriovPolicies derived = SriovPolicies.of(
                policy, 1, List.of(node("a", "high, low", nic("e0", E810, "low"), nic("e1", E810, "high"))));

        assertThat(derived.refusal()).isEmpty();
        assertThat(derived.specs()).hasSize(1);
    }

    @Test
    void aNodeThatHasNotBeenToldYetIsNoReason() {
        IwarpNicPolicy policy = policy("p", "nicSelector: {vendors: ['8086']}");
        IwarpNode late = node("b", "p", nic("e0", E810, null));
        late.getMetadata().setGeneration(2L);

        SriovPolicies derived = SriovPolicies.of(policy, 0, List.of(node("a", "p", nic("e0", E810, "p")), late));

        assertThat(derived.refusal()).isEmpty();
    }

    @Test
    void whatHasNoSriovIsNothingToAskFor() {
        IwarpNicPolicy policy = policy("p", "nicSelector: {vendors: ['1425']}");
        IwarpNode node = node("a", "p", nic("e0", "vendor: '1425', device: '6401', totalVirtualFunctions: 0", "p"));

        assertThat(SriovPolicies.of(policy, 0, List.of(node)).specs()).isEmpty();
    }

    @Test
    void aNameThatIsTooLongForAResourceIsRefused() {
        String name = "p".repeat(55);

        assertThat(SriovPolicies.of(policy(name, "nicSelector: {vendors: ['1425']}"), 0, List.of())
                        .refusal())
                .hasValueSatisfying(why -> assertThat(why).contains("longer than 54 characters"));
    }

    private static IwarpNicPolicy policy(String name, String spec) {
        return Yaml.parse(
                "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: " + name
                        + "}, spec: {virtualFunctions: 4, " + spec + "}}",
                IwarpNicPolicy.class);
    }

    private static String nic(String name, String members, String policy) {
        String total = members.contains("totalVirtualFunctions") ? "" : ", totalVirtualFunctions: 128";
        return "{name: '" + name + "', pciAddress: '0000:" + name + "', linkState: Up, iwarp: true, " + members + total
                + (policy == null ? "" : ", policy: " + policy) + "}";
    }

    private static IwarpNode node(String name, String policies, String... nics) {
        String named = List.of(policies.split(", ", -1)).stream()
                .map(policy -> "{name: " + policy + ", nicSelector: {vendors: ['8086']}}")
                .toList()
                .toString();
        return Yaml.parse(
                "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNode, metadata: {name: " + name
                        + ", generation: 1}, spec: {policies: " + named + "}, status: {observedGeneration: 1, nics: "
                        + List.of(nics) + "}}",
                IwarpNode.class);
    }
}
