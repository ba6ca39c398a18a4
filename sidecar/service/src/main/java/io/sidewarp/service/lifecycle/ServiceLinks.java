// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.smallrye.config.SmallRyeConfigBuilderCustomizer;
import io.smallrye.config.SysPropConfigSource;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Ignores environment variables that Kubernetes sets for Services. A Service named {@code sidewarp-api-tcp} creates the
 * variable {@code SIDEWARP_API_TCP_PORT}. Its value is {@code tcp://10.96.0.7:80} in all pods of the namespace, which
 * is not a valid setting.
 */
public final class ServiceLinks implements SmallRyeConfigBuilderCustomizer {

    private static final String PORT = "_PORT";
    private static final Pattern LINK = Pattern.compile("(tcp|udp|sctp)://.+:\\d+");

    private final Map<String, String> environment;

    /** Called through META-INF/services. */
    public ServiceLinks() {
        this(System.getenv());
    }

    ServiceLinks(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public void configBuilder(SmallRyeConfigBuilder builder) {
        if (!builder.isAddDefaultSources()) {
            return;
        }
        // Uses the default sources, without the variables of Services.
        builder.setAddDefaultSources(false)
                .addPropertiesSources()
                .withSources(new SysPropConfigSource(), new EnvConfigSource(withoutLinks(), EnvConfigSource.ORDINAL));
    }

    private Map<String, String> withoutLinks() {
        return environment.entrySet().stream()
                .filter(variable -> !variable.getKey().endsWith(PORT)
                        || !LINK.matcher(variable.getValue()).matches())
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /** Runs after all customizers that choose the sources. */
    @Override
    public int priority() {
        return Integer.MAX_VALUE;
    }
}
