// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.settings;

import io.quarkus.runtime.configuration.DurationConverter;
import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;

/** Checks settings before a sidecar gets them. */
public final class SettingsCheck {
    private static final int PRIORITY = 200;

    private SettingsCheck() {}

    /**
     * Returns what a sidecar with these settings would say instead of starting. Empty if it starts, as far as the
     * settings alone can tell: the devices, addresses and modules of a node are unknown here.
     *
     * @param settings values by names, such as sidewarp.limits.connections
     * @param place where the settings are written, for the message about an unknown name
     */
    public static Optional<String> whatIsWrong(Map<String, String> settings, String place) {
        SidewarpConfig config;
        try {
            config = new SmallRyeConfigBuilder()
                    .forClassLoader(SettingsCheck.class.getClassLoader())
                    .addDefaultInterceptors()
                    .withConverter(Duration.class, PRIORITY, new DurationConverter())
                    .withSources(new PropertiesConfigSource(settings, place, PRIORITY))
                    .withMapping(SidewarpConfig.class)
                    .build()
                    .getConfigMapping(SidewarpConfig.class);
        } catch (ConfigValidationException e) {
            return Optional.of(ConfigProblems.of(e).replace("PropertiesConfigSource[source=" + place + "]", place));
        } catch (NoSuchElementException e) {
            // A value refers to a property that does not exist.
            return Optional.of(String.valueOf(e.getMessage()));
        }
        List<String> problems = ConfigValidator.problems(config);
        return problems.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", problems));
    }
}
