// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.sidewarp.operator.controller.Yaml;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InstalledNetworksTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{}                                                                | false",
                "{status: {}}                                                      | false",
                "{status: {conditions: null}}                                      | false",
                "{status: {conditions: [{type: Established, status: \"False\"}]}}    | false",
                "{status: {conditions: [{type: NamesAccepted, status: \"True\"}]}}   | false",
                "{status: {conditions: [{type: Established, status: \"True\"}]}}     | true",
            })
    void aDefinitionIsServedWhenItIsEstablished(String definition, boolean served) {
        assertThat(InstalledNetworks.isServed(Yaml.parse(definition, CustomResourceDefinition.class)))
                .isEqualTo(served);
    }
}
