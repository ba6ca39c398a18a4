// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.settings.ConfigProblems;
import io.sidewarp.settings.SettingsCheck;
import io.smallrye.config.ConfigValidationException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares what the check says about settings with what a sidecar does that gets them. */
class SettingsCheckTest {

    private static final List<String> NUMBERS = List.of("-1", "0", "1", "2", "8", "256", "262144", "many", "");
    private static final List<String> PORTS = List.of("-1", "0", "70000", "many", "");
    private static final List<String> TIMES = List.of("-1s", "0s", "1ms", "300ms", "10s", "2m", "2d", "soon", "");
    private static final List<String> SWITCHES = List.of("true", "false", "maybe", "");

    /** Values of settings that are words, and of those whose valid values depend on the machine. */
    private static final Map<String, List<String>> WORDS = Map.ofEntries(
            Map.entry("sidewarp.provider", List.of("software", "auto", "magic", "")),
            Map.entry("sidewarp.rdma-devices", List.of("siw0", "siw0,siw1", "")),
            Map.entry("sidewarp.api.socket-mode", List.of("0600", "9", "")),
            Map.entry("sidewarp.advanced.tls-key-log", List.of("")),
            Map.entry("sidewarp.api.allowed-uids", List.of("0", "1,2", "root", "-1")),
            Map.entry("sidewarp.api.allowed-gids", List.of("0", "1,2", "root", "-1")),
            Map.entry("sidewarp.management.host", List.of("127.0.0.1", "0.0.0.0", "")),
            Map.entry("sidewarp.connection.listen-address", List.of("127.0.0.1", "::", "localhost")),
            Map.entry("sidewarp.connection.congestion-control", List.of("reno", "new reno")),
            Map.entry("sidewarp.connection.crc", List.of("preferred", "required", "refused", "sometimes", "")),
            Map.entry("sidewarp.connection.integrity-protection", List.of("IPsec with AES-GCM", "")),
            Map.entry("sidewarp.connection.mpa-revisions", List.of("1", "0,1,2", "1,3", "one", "")),
            Map.entry("sidewarp.connection.security", List.of("plain", "preferred", "tls", "")),
            Map.entry("sidewarp.connection.peers", List.of("ns/shop/sa/*,ns/shop/**", "shop/cart", "")),
            Map.entry("sidewarp.sctp.stack", List.of("udp", "tcp", "")),
            Map.entry("sidewarp.sctp.addresses", List.of("127.0.0.1", "localhost", "0.0.0.0")),
            Map.entry("sidewarp.advanced.api.tcp.host", List.of("127.0.0.1", "::1", "")),
            Map.entry(
                    "sidewarp.advanced.connection.ready-indications", List.of("read", "write,send", "write,write", "")),
            Map.entry(
                    "sidewarp.advanced.connection.read-depths",
                    List.of("enhanced", "none", "private-data", "all", "")));

    @ParameterizedTest
    @MethodSource("documented")
    void aSidecarStartsWithExactlyWhatTheCheckAccepts(String setting) {
        for (String value : values(setting)) {
            Optional<String> wrong = SettingsCheck.whatIsWrong(Map.of(setting, value), "settings");
            if (wrong.isEmpty()) {
                try (TestSidecar sidecar = TestSidecar.start(setting, value)) {
                    assertThat(sidecar.socket()).as("%s=%s", setting, value).exists();
                }
            } else {
                assertThatThrownBy(() -> TestSidecar.start(setting, value).close())
                        .as("%s=%s", setting, value)
                        .satisfies(refusal -> assertThat(wordsOf(refusal)).endsWith(wrong.orElseThrow()));
            }
        }
    }

    private static String wordsOf(Throwable refusal) {
        return refusal instanceof ConfigValidationException invalid
                ? ConfigProblems.of(invalid).replace("PropertiesConfigSource[source=test]", "settings")
                : String.valueOf(refusal.getMessage());
    }

    @Test
    void eachSettingIsTriedWithAValueThatIsAccepted() throws IOException {
        List<String> settings = documented().toList();

        assertThat(settings)
                .hasSizeGreaterThan(80)
                .allSatisfy(setting -> assertThat(values(setting))
                        .anySatisfy(value -> assertThat(SettingsCheck.whatIsWrong(Map.of(setting, value), "settings"))
                                .isEmpty()));
    }

    @Test
    void anUnknownSettingIsRefusedWithItsPlace() {
        assertThat(SettingsCheck.whatIsWrong(Map.of("sidewarp.limits.region", "1"), "settings"))
                .hasValue("sidewarp.limits.region is no setting of the sidecar (settings)");
    }

    @Test
    void aValueThatRefersToNothingIsRefused() {
        assertThat(SettingsCheck.whatIsWrong(Map.of("sidewarp.provider", "${PROVIDER}"), "settings"))
                .hasValueSatisfying(words -> assertThat(words).contains("PROVIDER"));
    }

    /** Documented settings, but for the places that the webhook chooses. */
    static Stream<String> documented() throws IOException {
        return ConfigTest.documented().keySet().stream()
                .filter(setting -> !List.of("sidewarp.api.socket", "sidewarp.shared-volume")
                        .contains(setting));
    }

    private static List<String> values(String setting) {
        if (WORDS.containsKey(setting)) {
            return WORDS.get(setting);
        }
        if (setting.endsWith("port")) {
            return setting.equals("sidewarp.advanced.connection.udp-port") ? NUMBERS : PORTS;
        }
        Class<?> type = ConfigTest.settings().get(setting).getReturnType();
        if (type == boolean.class) {
            return SWITCHES;
        }
        return type.equals(Duration.class) ? TIMES : NUMBERS;
    }
}
