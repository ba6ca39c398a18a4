// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.config;

import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.smallrye.config.SmallRyeConfigBuilderCustomizer;
import io.smallrye.config.SysPropConfigSource;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Leaves out of the settings what Kubernetes tells pods of Services. One that is named {@code sidewarp-api-tcp} makes
 * the variable {@code SIDEWARP_API_TCP_PORT}, which is {@code tcp://10.96.0.7:80} in all pods of its namespace.
 */
public final class ServiceLinks implements SmallRyeConfigBuilderCustomizer {

    private static final String PORT = "_PORT";
    private static final Pattern LINK = Pattern.compile("(tcp|udp|sctp)://.+:\\d+");

    private final Map<String, String> environment;

    /** Found by its name in META-INF/services. */
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
        // The same sources, but for what is left out.
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

    /** Behind those that say which sources there are. */
    @Override
    public int priority() {
        return Integer.MAX_VALUE;
    }
}
