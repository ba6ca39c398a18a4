// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicySpec;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import io.sidewarp.operator.controller.Yaml;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProvisioningTest {
    @ParameterizedTest
    @CsvSource({
        "'virtualFunctions: 4', true, SRIOV_NETWORK_OPERATOR",
        "'virtualFunctions: 4', false, NODE_AGENT",
        "'virtualFunctions: 4, provisioner: NodeAgent', true, NODE_AGENT",
        "'virtualFunctions: 4, provisioner: SriovNetworkOperator', false, SRIOV_NETWORK_OPERATOR",
        "'virtualFunctions: 0', true, NODE_AGENT",
        "'mtu: 9000', true, NODE_AGENT"
    })
    void theSriovNetworkOperatorMakesVirtualFunctionsWhereItIs(
            String policy, boolean installed, ProvisionedBy expected) {
        IwarpNicPolicySpec spec =
                Yaml.parse("{nicSelector: {vendors: ['8086']}, " + policy + "}", IwarpNicPolicySpec.class);

        assertThat(spec.provisionedBy(installed)).isEqualTo(expected);
    }
}
