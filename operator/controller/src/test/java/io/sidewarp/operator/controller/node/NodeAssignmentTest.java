// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.api.v1alpha1.Fallback;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.config.OperatorConfig;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeAssignmentTest {
    private static final OperatorConfig.Unselected UNSELECTED = new OperatorConfig.Unselected() {
        @Override
        public Optional<List<Fallback>> fallback() {
            return Optional.of(List.of(Fallback.SOFTWARE));
        }

        @Override
        public int softwareDevices() {
            return 7;
        }

        @Override
        public int siwDevices() {
            return 3;
        }
    };

    @Test
    void theHighestPriorityComesFirstAndThenTheName() {
        IwarpNodeSpec spec = NodeAssignment.of(
                Map.of(),
                List.of(
                        policy("c", "priority: 1"),
                        policy("b", "priority: 5"),
                        policy("a", "priority: 1"),
                        policy("d", "priority: 0")),
                UNSELECTED,
                false,
                false);

        assertThat(spec.policies()).extracting(NodePolicy::name).containsExactly("b", "a", "c", "d");
    }

    @Test
    void allLabelsOfTheSelectorMustBeThere() {
        List<IwarpNicPolicy> policies = List.of(
                policy("both", "nodeSelector: {x: '1', y: '2'}"),
                policy("one", "nodeSelector: {x: '1'}"),
                policy("other", "nodeSelector: {x: '2'}"));

        assertThat(NodeAssignment.of(Map.of("x", "1", "z", "9"), policies, UNSELECTED, false, false)
                        .policies())
                .extracting(NodePolicy::name)
                .containsExactly("one");
    }

    @ParameterizedTest
    @CsvSource({"linux, true", "windows, false"})
    void aNodeThatRunsNoLinuxIsSelectedByNoPolicy(String system, boolean selected) {
        Map<String, String> labels = Map.of("kubernetes.io/os", system);

        assertThat(NodeAssignment.of(labels, List.of(policy("all", "priority: 1")), UNSELECTED, false, false)
                        .policies())
                .hasSize(selected ? 1 : 0);
    }

    @Test
    void theFallbackIsThatOfTheFirstPolicy() {
        IwarpNodeSpec spec = NodeAssignment.of(
                Map.of(),
                List.of(policy("b", "fallback: [Software], software: {devices: 9}"), policy("a", "fallback: []")),
                UNSELECTED,
                false,
                false);

        assertThat(spec.fallback()).isEmpty();
        assertThat(spec.software().devices()).isEqualTo(256);
    }

    @Test
    void aNodeThatNoPolicySelectsOffersWhatTheOperatorIsSetTo() {
        IwarpNodeSpec spec = NodeAssignment.of(Map.of(), List.of(), UNSELECTED, false, false);

        assertThat(spec.policies()).isEmpty();
        assertThat(spec.fallback()).containsExactly(Fallback.SOFTWARE);
        assertThat(spec.software().devices()).isEqualTo(7);
        assertThat(spec.siw().devices()).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {"-, SOFTWARE", "'', ''", "KERNEL_SIW, KERNEL_SIW", "'KERNEL_SIW,SOFTWARE', 'KERNEL_SIW,SOFTWARE'"})
    void suchANodeOffersNothingWhereTheSettingSaysSo(@Nullable String setting, String expected) {
        OperatorConfig config =
                TestSettings.of(setting == null ? Map.of() : Map.of("sidewarp.operator.unselected.fallback", setting));

        IwarpNodeSpec spec = NodeAssignment.of(Map.of(), List.of(), config.unselected(), false, false);

        assertThat(spec.fallback().stream().map(Fallback::name).collect(Collectors.joining(",")))
                .isEqualTo(expected);
    }

    @Test
    void aPolicyThatIsBeingDeletedNoLongerCounts() {
        IwarpNicPolicy going = policy("going", "priority: 9");
        going.getMetadata().setDeletionTimestamp("2030-01-01T00:00:00Z");

        assertThat(NodeAssignment.of(Map.of(), List.of(going, policy("stays", "priority: 1")), UNSELECTED, false, false)
                        .policies())
                .extracting(NodePolicy::name)
                .containsExactly("stays");
    }

    @Test
    void theNodeIsToldWhoMakesItsVirtualFunctions() {
        List<IwarpNicPolicy> policies = List.of(policy("a", "virtualFunctions: 4"), policy("b", "mtu: 9000"));

        assertThat(NodeAssignment.of(Map.of(), policies, UNSELECTED, true, false)
                        .policies())
                .extracting(NodePolicy::provisionedBy)
                .containsExactly(ProvisionedBy.SRIOV_NETWORK_OPERATOR, ProvisionedBy.NODE_AGENT);
    }

    @Test
    void onlyVirtualFunctionsWithANetworkStayWithTheDevicePluginOnANodeWithClaims() {
        List<IwarpNicPolicy> policies = List.of(policy("a", "network: {vlan: 7}"), policy("b", "mtu: 9000"));

        IwarpNodeSpec without = NodeAssignment.of(Map.of(), policies, UNSELECTED, false, false);
        IwarpNodeSpec with = NodeAssignment.of(Map.of(), policies, UNSELECTED, false, true);

        assertThat(without.resourceClaims()).isNull();
        assertThat(without.policies()).extracting(NodePolicy::devicePlugin).containsOnlyNulls();
        assertThat(with.resourceClaims()).isTrue();
        assertThat(with.policies()).extracting(NodePolicy::devicePlugin).containsExactly(true, null);
        assertThat(NodeAssignment.of(Map.of(), List.of(), UNSELECTED, false, true)
                        .resourceClaims())
                .isTrue();
    }

    private static IwarpNicPolicy policy(String name, String spec) {
        return Yaml.parse(
                "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: " + name
                        + "}, spec: {nicSelector:" + " {vendors: ['1425']}, " + spec + "}}",
                IwarpNicPolicy.class);
    }
}
