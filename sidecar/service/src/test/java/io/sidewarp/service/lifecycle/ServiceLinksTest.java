// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.runtime.configuration.DurationConverter;
import io.sidewarp.settings.SidewarpConfig;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ServiceLinksTest {

    @Test
    void whatKubernetesTellsOfServicesIsNoSetting() {
        SidewarpConfig config = mapped(Map.of(
                "SIDEWARP_API_TCP_PORT", "tcp://10.96.0.7:80",
                "SIDEWARP_SCTP_UDP_PORT", "udp://[fd00::7]:9899",
                "SIDEWARP_MANAGEMENT_PORT", "sctp://10.96.0.8:1"));

        assertThat(config.api().tcp().port()).isEmpty();
        assertThat(config.sctp().udpPort()).isEqualTo(mapped(Map.of()).sctp().udpPort());
        assertThat(config.management().port()).isEqualTo(9464);
    }

    @Test
    void otherVariablesAreSettings() {
        SidewarpConfig config = mapped(Map.of("SIDEWARP_API_TCP_PORT", "7470", "SIDEWARP_PROVIDER", "tcp://a:1"));

        assertThat(config.api().tcp().port()).hasValue(7470);
        assertThat(config.provider()).isEqualTo("tcp://a:1");
    }

    private static SidewarpConfig mapped(Map<String, String> environment) {
        SmallRyeConfig config = new SmallRyeConfigBuilder()
                .addDefaultSources()
                .withConverter(Duration.class, 200, new DurationConverter())
                .withValidateUnknown(false)
                .withCustomizers(new ServiceLinks(environment))
                .withMapping(SidewarpConfig.class)
                .build();
        return config.getConfigMapping(SidewarpConfig.class);
    }
}
