// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.settings.ConfigValidator;
import io.sidewarp.settings.SecuritySettings;
import io.sidewarp.settings.SidewarpConfig;
import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.WithDefault;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ConfigTest {

    private static final Path ROOT = Path.of(System.getProperty("sidewarp.root"));
    private static final Pattern ROW = Pattern.compile("^\\| `(sidewarp\\.[a-z.-]+)` \\| (.*?) \\| (.*) \\|$");

    @Test
    void theDefaultsAreValid() {
        assertThat(ConfigValidator.problems(TestSidecar.config(Path.of("/dev/shm/none"))))
                .isEmpty();
    }

    @Test
    void whatOneUserMayHaveOfTheHeapByDefaultFitsThatOfTheImage() {
        SidewarpConfig.Limits limits =
                TestSidecar.config(Path.of("/dev/shm/none")).limits();

        long ofCalls = limits.apiCalls() * (10L << 10);
        long ofQueues = limits.workEntries() * 800;

        // Alone it gets half. There are 256 MiB, of which an idle sidecar has 9, and the collector needs some.
        assertThat((ofCalls + ofQueues) / 2).isLessThan(192 << 20);
    }

    @ParameterizedTest
    @CsvSource({
        "sidewarp.provider, magic",
        "sidewarp.event-loops, 0",
        "sidewarp.advanced.worker-threads, 0",
        "sidewarp.drain-timeout, PT-1S",
        "sidewarp.api.socket, relative.sock",
        "sidewarp.api.socket, /",
        "sidewarp.api.socket, /long-directory/dddddddddddddddddddddddddddddddddddddddddddddddddddddd"
                + "dddddddddddddddddddddddddddddd/a",
        "sidewarp.api.socket-mode, 9999",
        "sidewarp.api.allowed-uids, -5",
        "sidewarp.management.port, 70000",
        "sidewarp.management.connections, 0",
        "sidewarp.limits.api-connections, 1",
        "sidewarp.limits.api-connection-calls, 0",
        "sidewarp.limits.api-calls, 0",
        "sidewarp.limits.api-calls, 5",
        "sidewarp.limits.work-entries, 5",
        "sidewarp.limits.reassembly-octets, 131071",
        "sidewarp.limits.regions, 0",
        "sidewarp.limits.total-regions, 2",
        "sidewarp.limits.send-queue, 100000",
        "sidewarp.limits.lookups, 0",
        "sidewarp.limits.shared-receive-queues, -1",
        "sidewarp.limits.ird, 257",
        "sidewarp.limits.ord, 257",
        "sidewarp.connection.listen-address, localhost",
        "sidewarp.connection.listen-address, 192.0.2.0/24",
        "sidewarp.advanced.connection.ird, 65",
        "sidewarp.connection.timeout, 0s",
        "sidewarp.connection.first-fpdu-delay, PT-1S",
        "sidewarp.connection.congestion-control, 'new reno'",
        "sidewarp.advanced.connection.max-fpdu, -1",
        "sidewarp.connection.mpa-revisions, '1,3'",
        "sidewarp.connection.mpa-request-revision, 0",
        "sidewarp.advanced.connection.peer-to-peer, true",
        "sidewarp.advanced.connection.ready-indications, 'write,write'",
        "sidewarp.sctp.addresses, localhost",
        "sidewarp.sctp.addresses, 0.0.0.0",
        "sidewarp.sctp.addresses, '192.0.2.1,192.0.2.2'",
        "sidewarp.advanced.telemetry.latency-sampling, 0",
        "sidewarp.advanced.log.messages-per-minute, 0",
    })
    void aValueThatCannotWorkIsNamedWithWhatIsAllowed(String name, String value) {
        assertThat(ConfigValidator.problems(TestSidecar.config(Path.of("/dev/shm/none"), name, value)))
                .singleElement()
                .asString()
                .startsWith(name + " is ")
                .contains("allowed: ");
    }

    @ParameterizedTest
    @CsvSource({
        "sidewarp.connection.timeout, 2h, 2h; allowed: 1ms to 1h",
        "sidewarp.advanced.sctp.sack-delay, 700ms, 700ms; allowed: 1ms to 500ms",
        "sidewarp.drain-timeout, PT-1S, -1s; allowed: 0s to 1h",
        "sidewarp.connection.stall-timeout, 36h, 36h; allowed: 1ms to 24h",
    })
    void aTimeThatCannotWorkIsToldAsItIsWrittenInSettings(String name, String value, String told) {
        assertThat(ConfigValidator.problems(TestSidecar.config(Path.of("/dev/shm/none"), name, value)))
                .containsExactly(name + " is " + told);
    }

    @ParameterizedTest
    @CsvSource({"software, siw0, software", "kernel, '', kernel", "auto, siw0, kernel", "auto, '', software"})
    void theProviderFollowsFromTheSettingAndTheDevices(String wanted, String devices, String used) {
        SidewarpConfig config = TestSidecar.config(
                Path.of("/dev/shm/none"), "sidewarp.provider", wanted, "sidewarp.rdma-devices", devices);

        assertThat(ConfigValidator.problems(config)).isEmpty();
        assertThat(ConfigValidator.provider(config)).isEqualTo(used);
    }

    private static SidewarpConfig withIdentity(String... settings) {
        return TestSidecar.config(
                Path.of("/dev/shm/none"),
                Stream.concat(
                                Stream.of("sidewarp.identity.source", "files", "sidewarp.identity.directory", "/id"),
                                Stream.of(settings))
                        .toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource({
        "plain,     '',       false, PLAIN,     PLAIN",
        "preferred, '',       false, PREFERRED, PLAIN",
        "required,  '',       false, REQUIRED,  PLAIN",
        "plain,     'ns/a/*', false, REQUIRED,  REQUIRED",
        "plain,     'ns/a/*', true,  PREFERRED, PLAIN",
        "required,  'ns/a/*', true,  REQUIRED,  PLAIN",
    })
    void permittedPeersImplyTlsUnlessPlainPeersArePermitted(
            String security, String peers, String plainPeers, TlsUse byDefault, TlsUse least) {
        SidewarpConfig config = withIdentity(
                "sidewarp.connection.security",
                security,
                "sidewarp.connection.peers",
                peers,
                "sidewarp.connection.plain-peers",
                plainPeers);

        assertThat(ConfigValidator.problems(config)).isEmpty();
        assertThat(SecuritySettings.byDefault(config.connection())).isEqualTo(byDefault);
        assertThat(SecuritySettings.least(config.connection())).isEqualTo(least);
    }

    @Test
    void automaticChoiceTakesTheSoftwareProviderWhereTlsIsRequired() {
        SidewarpConfig config = withIdentity(
                "sidewarp.connection.security",
                "required",
                "sidewarp.provider",
                "auto",
                "sidewarp.rdma-devices",
                "siw0");

        assertThat(ConfigValidator.problems(config)).isEmpty();
        assertThat(ConfigValidator.provider(config)).isEqualTo("software");
    }

    @ParameterizedTest
    @CsvSource({"sidewarp.connection.security, required", "sidewarp.connection.peers, ns/shop/**"})
    void requiredTlsNeedsAnIdentityAndTheSoftwareProvider(String name, String value) {
        assertThat(ConfigValidator.problems(TestSidecar.config(Path.of("/dev/shm/none"), name, value)))
                .containsExactly(
                        "connections need TLS because of " + name
                                + ", but this sidecar has no identity; set sidewarp.identity.source to builtin, files or spiffe");
        assertThat(ConfigValidator.problems(withIdentity(name, value, "sidewarp.provider", "kernel")))
                .containsExactly("connections need TLS because of " + name
                        + ", but devices of the kernel speak no TLS; set sidewarp.provider to software or auto");
    }

    @Test
    void aPatternOfPeersThatIsNotValidIsNamed() {
        assertThat(ConfigValidator.problems(withIdentity("sidewarp.connection.peers", "ns/shop/**, shop/cart")))
                .singleElement()
                .asString()
                .startsWith("sidewarp.connection.peers is shop/cart; allowed: patterns")
                .contains("the pattern of peers `shop/cart` is not valid");
    }

    @ParameterizedTest
    @MethodSource("switches")
    void aSwitchIsTrueOrFalseAndNothingElse(String name) {
        for (String value : List.of("maybe", "1", "")) {
            assertThatThrownBy(() -> TestSidecar.config(Path.of("/dev/shm/none"), name, value))
                    .isInstanceOf(ConfigValidationException.class)
                    .hasMessageContaining(name);
        }
        for (String value : List.of("true", "False")) {
            assertThatCode(() -> TestSidecar.config(Path.of("/dev/shm/none"), name, value))
                    .doesNotThrowAnyException();
        }
    }

    static Stream<String> switches() {
        Map<String, Class<?>> kinds = new TreeMap<>();
        collect("sidewarp", SidewarpConfig.class, (name, setting) -> kinds.put(name, setting.getReturnType()));
        return kinds.keySet().stream().filter(name -> kinds.get(name) == boolean.class);
    }

    @Test
    void onlyTheKernelsSctpTakesSeveralAddresses() {
        SidewarpConfig config = TestSidecar.config(
                Path.of("/dev/shm/none"),
                "sidewarp.sctp.stack",
                "kernel",
                "sidewarp.sctp.addresses",
                "192.0.2.1,2001:db8::1,192.0.2.1");

        assertThat(ConfigValidator.problems(config)).isEmpty();
        assertThat(ConfigValidator.sctpAddresses(config))
                .containsExactly(InetAddress.ofLiteral("192.0.2.1"), InetAddress.ofLiteral("2001:db8::1"));
    }

    @ParameterizedTest
    @CsvSource({"0.0.0.0", "192.0.2.1", "::"})
    void theApiListensOnLoopbackOnly(String host) {
        assertThat(ConfigValidator.problems(TestSidecar.config(
                        Path.of("/dev/shm/none"),
                        "sidewarp.api.tcp.port",
                        "0",
                        "sidewarp.advanced.api.tcp.host",
                        host)))
                .singleElement()
                .asString()
                .contains("sidewarp.advanced.api.tcp.host is " + host)
                .contains("loopback");
    }

    @ParameterizedTest
    @CsvSource({"sidewarp.connection.crc, refused", "sidewarp.connection.allow-crc-off, true"})
    @Requirement({"MPA-4.4-03", "MPA-4.4-01"})
    void crcsCanBeOffOnlyWhereTheAdministratorNamesWhatProtectsTheDataInstead(String name, String value) {
        assertThat(ConfigValidator.problems(TestSidecar.config(Path.of("/dev/shm/none"), name, value)))
                .singleElement()
                .asString()
                .contains("sidewarp.connection.integrity-protection", "RFC 5044 section 4.4");
        assertThat(ConfigValidator.problems(TestSidecar.config(
                        Path.of("/dev/shm/none"), name, value, "sidewarp.connection.integrity-protection", " ")))
                .singleElement()
                .asString()
                .contains("sidewarp.connection.integrity-protection");
        assertThat(ConfigValidator.problems(TestSidecar.config(
                        Path.of("/dev/shm/none"),
                        name,
                        value,
                        "sidewarp.connection.integrity-protection",
                        "IPsec with AES-GCM")))
                .isEmpty();
        assertThat(ConfigValidator.problems(TestSidecar.config(
                        Path.of("/dev/shm/none"), name, value, "sidewarp.connection.integrity-protection", "tls")))
                .singleElement()
                .asString()
                .startsWith("sidewarp.connection.integrity-protection is TLS, which does not protect");
    }

    @ParameterizedTest
    @CsvSource({
        "files, sidewarp.identity.socket, x, sidewarp.identity.directory is unset",
        "files, sidewarp.identity.directory, certs, sidewarp.identity.directory is certs; allowed: an absolute path",
        "spiffe, sidewarp.identity.directory, /x, sidewarp.identity.socket is unset",
        "spiffe, sidewarp.identity.socket, /run/a.sock, allowed: unix:///PATH",
        "builtin, sidewarp.identity.issuer, http://ca:1, allowed: https://HOST:PORT",
        "builtin, sidewarp.identity.trust-bundle, text, sidewarp.identity.trust-bundle has no CAs in PEM",
        "'', sidewarp.identity.directory, /x, sidewarp.identity.directory is set",
    })
    void sourceOfIdentityNeedsItsOwnSettings(String source, String name, String value, String problem) {
        SidewarpConfig config =
                TestSidecar.config(Path.of("/dev/shm/none"), "sidewarp.identity.source", source, name, value);

        assertThat(ConfigValidator.problems(config))
                .anySatisfy(text -> assertThat(text).contains(problem));
    }

    @Test
    void usersCannotBeCheckedOnTcp() {
        assertThat(ConfigValidator.problems(TestSidecar.config(
                        Path.of("/dev/shm/none"), "sidewarp.api.tcp.port", "0", "sidewarp.api.allowed-uids", "1000")))
                .singleElement()
                .asString()
                .contains("allowed-uids");
    }

    /** Documented settings with their defaults. */
    static Map<String, String> documented() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        for (String line : Files.readAllLines(ROOT.resolve("docs/configuration.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                documented.put(row.group(1), row.group(2).replace("`", ""));
            }
        }
        return documented;
    }

    /** Settings with their methods in the mapping. */
    static Map<String, Method> settings() {
        Map<String, Method> settings = new TreeMap<>();
        collect("sidewarp", SidewarpConfig.class, settings::put);
        return settings;
    }

    @Test
    void theTableInTheDocumentationIsTheMapping() throws IOException {
        Map<String, String> mapped = new TreeMap<>();
        collect("sidewarp", SidewarpConfig.class, (name, setting) -> {
            WithDefault value = setting.getAnnotation(WithDefault.class);
            mapped.put(name, value == null ? "" : value.value());
        });

        assertThat(documented()).isEqualTo(mapped);
    }

    private static void collect(String prefix, Class<?> group, BiConsumer<String, Method> into) {
        for (Method method : group.getDeclaredMethods()) {
            if (method.isSynthetic()) {
                continue;
            }
            String name = prefix + "." + kebab(method.getName());
            if (method.getReturnType().isInterface()
                    && method.getReturnType().getPackage() == SidewarpConfig.class.getPackage()) {
                collect(name, method.getReturnType(), into);
            } else {
                into.accept(name, method);
            }
        }
    }

    private static String kebab(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }
}
