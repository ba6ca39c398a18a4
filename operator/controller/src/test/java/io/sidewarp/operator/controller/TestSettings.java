// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.sidewarp.operator.controller.config.OperatorConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.Map;

/** Settings of the controller for tests. */
public final class TestSettings {
    private TestSettings() {}

    /** The defaults, but for some. */
    public static OperatorConfig of(Map<String, String> settings) {
        return new SmallRyeConfigBuilder()
                .addDiscoveredConverters()
                .withMapping(OperatorConfig.class)
                .withDefaultValue("quarkus.application.version", "test")
                .withDefaultValues(settings)
                .build()
                .getConfigMapping(OperatorConfig.class);
    }
}
