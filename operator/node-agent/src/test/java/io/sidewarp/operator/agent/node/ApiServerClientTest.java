// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.Config;
import io.quarkus.kubernetes.client.runtime.internal.KubernetesClientBuildConfig;
import io.quarkus.kubernetes.client.runtime.internal.KubernetesClientUtils;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The client that the agent gets from Quarkus. */
class ApiServerClientTest {

    /** A look would wait for the end of that, and nothing new be offered meanwhile. */
    @Test
    void doesNotTryAgainByItself() throws IOException {
        PropertiesConfigSource properties = new PropertiesConfigSource(
                Objects.requireNonNull(ApiServerClientTest.class.getResource("/application.properties")));

        Config config = KubernetesClientUtils.createConfig(new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .addDiscoveredConverters()
                .withSources(properties)
                .withMapping(KubernetesClientBuildConfig.class)
                .withValidateUnknown(false)
                .build()
                .getConfigMapping(KubernetesClientBuildConfig.class));

        assertThat(config.getRequestRetryBackoffLimit()).isZero();
    }
}
