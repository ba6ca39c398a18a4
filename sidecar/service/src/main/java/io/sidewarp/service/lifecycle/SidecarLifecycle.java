// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.sidewarp.common.LogText;
import io.sidewarp.common.UnknownVariables;
import io.sidewarp.settings.RenamedSettings;
import io.sidewarp.settings.SidewarpConfig;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.microprofile.config.Config;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Starts and stops the sidecar with the Quarkus application. */
@Singleton
public final class SidecarLifecycle {

    private static final Logger LOG = Logger.getLogger(SidecarLifecycle.class);

    private final SidewarpConfig config;
    private final Config properties;
    private @Nullable Sidecar sidecar;

    @Inject
    SidecarLifecycle(SidewarpConfig config, Config properties) {
        this.config = config;
        this.properties = properties;
    }

    void onStart(@Observes StartupEvent event) {
        RenamedSettings.in(System.getenv().keySet()).ifPresent(names -> {
            throw new StartFailedException("invalid configuration: " + names, null);
        });
        UnknownVariables.in(System.getenv().keySet(), "SIDEWARP_", SidewarpConfig.class)
                .ifPresent(names -> LOG.warnf(
                        "event=unknown-variables names=%s action=\"none is a setting of the sidecar, and none has an"
                                + " effect; see docs/configuration.md\"",
                        LogText.quoted(names)));
        sidecar = Sidecar.start(
                config,
                properties
                        .getOptionalValue("quarkus.application.version", String.class)
                        .orElse("unknown"),
                telemetryProperties());
    }

    void onStop(@Observes ShutdownEvent event) {
        if (sidecar != null) {
            sidecar.close();
        }
    }

    /** Returns OpenTelemetry properties from configuration files. The SDK itself reads the environment. */
    private Map<String, String> telemetryProperties() {
        Map<String, String> found = new HashMap<>();
        for (String name : properties.getPropertyNames()) {
            if (name.startsWith("otel.")) {
                properties.getOptionalValue(name, String.class).ifPresent(value -> found.put(name, value));
            }
        }
        return found;
    }
}
