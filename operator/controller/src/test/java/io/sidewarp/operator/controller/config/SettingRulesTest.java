// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.controller.TestSettings;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingRulesTest {
    private static final String WEBHOOK = "sidewarp.operator.webhook.";

    @Test
    void theDefaultsWork() {
        assertThat(SettingRules.problems(TestSettings.of(Map.of()))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    certificate-validity     | 14m     | certificate-validity is 840s; allowed: 15m to 36500d
                    certificate-validity     | 40000d  | certificate-validity is 3456000000s; allowed: 15m to 36500d
                    certificate-switch-delay | 61d     | certificate-switch-delay is 5270400s: a certificate would expire
                    certificate-switch-delay | -1s     | certificate-switch-delay is -1s; allowed: 0s and more
                    connections              | 0       | connections is 0; allowed: 1 and more
                    pending-octets           | 6291455 | pending-octets is 6291455; allowed: 6291456, which
                    request-timeout          | 0s      | request-timeout is 0s; allowed: more than 0s
                    idle-timeout             | 0s      | idle-timeout is 0s; allowed: more than 0s
                    shutdown-delay           | -1s     | shutdown-delay is -1s; allowed: 0s and more
                    """)
    void aSettingThatCannotWorkIsNamedWithWhatCould(String name, String value, String problem) {
        assertThat(SettingRules.problems(TestSettings.of(Map.of(WEBHOOK + name, value))))
                .singleElement()
                .asString()
                .startsWith(WEBHOOK + problem);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    trust-domain         | Shop.Example | trust-domain is Shop.Example; allowed: lower-case letters
                    certificate-validity | 9m           | certificate-validity is 540s; allowed: 10m and more
                    ca-validity          | 7h           | ca-validity is 25200s; allowed: eight times
                    ca-validity          | 40000d       | ca-validity is 3456000000s; allowed: eight times
                    """)
    void settingOfIdentitiesThatCannotWorkIsNamedWithWhatCould(String name, String value, String problem) {
        String identity = "sidewarp.operator.identity.";
        assertThat(SettingRules.problems(TestSettings.of(Map.of(identity + name, value))))
                .singleElement()
                .asString()
                .startsWith(identity + problem);
        assertThat(SettingRules.problems(
                        TestSettings.of(Map.of(identity + name, value, identity + "enabled", "false"))))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0s, 0ms", "500ms, 500ms", "1500ms, 1500ms", "-1s, -1000ms"})
    void aLeaseTellsWholeSecondsOnly(String value, String told) {
        assertThat(SettingRules.problems(TestSettings.of(Map.of("sidewarp.operator.leader-election.duration", value))))
                .containsExactly("sidewarp.operator.leader-election.duration is " + told
                        + "; allowed: whole seconds, 1s and more");
    }

    @Test
    void theValidityDoesNotMatterWhereSomebodyElseMakesTheCertificate() {
        assertThat(SettingRules.problems(TestSettings.of(
                        Map.of(WEBHOOK + "certificate-validity", "1m", WEBHOOK + "manage-certificate", "false"))))
                .isEmpty();
    }
}
