// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sidewarp.client.Access;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkRequest;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.CliProcess.Ended;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code sidewarp show} as a process, beside a client that has regions and connections. */
@ExtendWith(Logs.class)
class ShowCommandIT {

    private static final Pattern FIELD = Pattern.compile("`(\\w+)`");

    private static SidecarProcess sidecar;
    private static SidewarpClient client;
    private static SharedRegion shared;
    private static ManagedRegion managed;
    private static Link link;
    private static SidecarProcess neighbour;
    private static SidewarpClient neighbours;
    private static Link overSctp;

    @BeforeAll
    static void start() {
        sidecar = SidecarProcess.start("shown");
        client = sidecar.client();
        Session session = client.openSession("shown-session");
        shared = session.createSharedRegion("shown-region", 12_288, Access.LOCAL_WRITE, Access.REMOTE_READ);
        managed = session.registerManaged(100, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
        link = Link.connect(session, session);
        link.initiator().write(shared.slice(0, 100), managed.address());
        link.initiator().fetchAdd(managed.address(), 1);
        CompletableFuture<WorkCompletion> received = link.responder().receiveAsync(List.of());
        link.initiator().perform(WorkRequest.immediate(link.initiator(), 7));
        Patience.get(received).orThrow();
        neighbour = SidecarProcess.with("neighbour")
                .set("sidewarp.sctp.udp-port", "0")
                .start();
        neighbours = neighbour.client();
        overSctp = Link.connectOverSctp(
                Link.LOOPBACK, client.openSession("sctp-session"), neighbours.openSession("neighbour"));
    }

    @AfterAll
    static void stop() {
        client.close();
        neighbours.close();
        sidecar.close();
        neighbour.close();
    }

    private static Ended show(String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "show";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        Ended ended = CliProcess.run(sidecar, all);
        assertThat(ended.exitCode()).as(ended.text()).isZero();
        return ended;
    }

    private static JsonNode json(String subject) {
        Ended ended = show(subject, "--json");
        assertThat(ended.output()).hasSize(1);
        return ended.json().getFirst();
    }

    /** Excludes connections over SCTP, which belong to another session. */
    private static List<JsonNode> ofTheSession(JsonNode connections) {
        List<JsonNode> some = new ArrayList<>();
        connections.forEach(connection -> {
            if (connection.get("session_name").asText().equals("shown-session")) {
                some.add(connection);
            }
        });
        return some;
    }

    @ParameterizedTest
    @ValueSource(strings = {"connections", "associations", "regions", "device", "sessions"})
    void theDocumentationNamesTheFields(String subject) throws IOException {
        JsonNode shown =
                subject.equals("connections") ? ofTheSession(json(subject)).getFirst() : json(subject);
        List<String> names = new ArrayList<>();
        (shown.isArray() ? shown.get(0) : shown).fieldNames().forEachRemaining(names::add);
        String row = Files.readAllLines(Programs.root().resolve("docs/cli.md")).stream()
                .filter(line -> line.startsWith("| `" + subject + "` |"))
                .findFirst()
                .orElseThrow();
        String fields = row.substring(row.indexOf('|', 1)).replaceAll("\\([^)]*\\)|;.*", "");

        assertThat(names)
                .containsExactlyElementsOf(FIELD.matcher(fields)
                        .results()
                        .map(field -> field.group(1))
                        .toList());
    }

    @Test
    void connectionsAreShownWithTheirCounters() {
        List<JsonNode> connections = ofTheSession(json("connections"));

        assertThat(connections).hasSize(2);
        assertThat(connections).allSatisfy(connection -> {
            assertThat(connection.get("state").asText()).isEqualTo("established");
            assertThat(connection.get("session_name").asText()).isEqualTo("shown-session");
            assertThat(connection.get("crc").asBoolean()).isTrue();
            assertThat(connection.get("remote_address").asText()).isEqualTo(Link.LOOPBACK);
        });
        assertThat(connections)
                .filteredOn(connection -> connection.get("initiator").asBoolean())
                .singleElement()
                .satisfies(connection -> {
                    assertThat(connection.get("id").asLong())
                            .isEqualTo(link.initiator().id());
                    assertThat(connection.at("/counters/writes_sent").asLong()).isEqualTo(1);
                    assertThat(connection.at("/counters/octets_sent").asLong()).isEqualTo(100);
                    assertThat(connection.at("/counters/atomics_sent").asLong()).isEqualTo(1);
                    assertThat(connection.at("/counters/immediates_sent").asLong())
                            .isEqualTo(1);
                });
        assertThat(connections)
                .filteredOn(connection -> !connection.get("initiator").asBoolean())
                .singleElement()
                .satisfies(connection -> {
                    assertThat(connection.at("/counters/atomics_served").asLong())
                            .isEqualTo(1);
                    assertThat(connection.at("/counters/immediates_received").asLong())
                            .isEqualTo(1);
                });
        assertThat(show("connections").text()).contains("shown-session", "established", "IMMEDIATES", "ATOMICS");
    }

    @Test
    void associationsAreShownWithTheirPaths() {
        JsonNode associations = json("associations");

        assertThat(associations).singleElement().satisfies(association -> {
            assertThat(association.get("initiator").asBoolean()).isTrue();
            assertThat(association.get("remote_port").asInt())
                    .isEqualTo(overSctp.initiator().info().remotePort());
            assertThat(association.get("occupied_streams").asInt()).isEqualTo(1);
            assertThat(association.at("/paths/0/address").asText()).isEqualTo(Link.LOOPBACK);
            assertThat(association.at("/paths/0/active").asBoolean()).isTrue();
        });
        assertThat(show("associations").text()).contains("active, primary", "1/");
        try (SidewarpClient other = neighbour.client()) {
            assertThat(other.listAssociations())
                    .singleElement()
                    .satisfies(
                            association -> assertThat(association.initiator()).isFalse());
        }
    }

    @Test
    void regionsAreShownWithTheirRights() {
        JsonNode regions = json("regions");

        assertThat(regions)
                .filteredOn(region -> region.get("path").asText().equals("shown-region"))
                .singleElement()
                .satisfies(region -> {
                    assertThat(region.get("id").asLong()).isEqualTo(shared.id());
                    assertThat(region.get("length").asLong()).isEqualTo(12_288);
                    assertThat(region.get("stag").asText())
                            .isEqualTo("0x%08x".formatted(shared.address().stag()));
                    assertThat(region.get("access"))
                            .extracting(JsonNode::asText)
                            .containsExactlyInAnyOrder("local-write", "remote-read");
                });
        assertThat(regions)
                .filteredOn(region -> region.get("path").asText().isEmpty())
                .hasSize(1);
        assertThat(show("regions").text())
                .contains("shown-region")
                .contains("(managed)")
                .contains("12 KiB");
    }

    @Test
    void theDeviceIsShownWithWhatItHasOfRfc7306() {
        assertThat(json("device").get("capabilities"))
                .extracting(JsonNode::asText)
                .containsExactly("immediate-data", "atomic-operations");
        assertThat(show("device").text()).contains("immediate-data, atomic-operations");
    }

    @Test
    void aDeviceWithoutRfc7306SaysSo() {
        try (SidecarProcess plain =
                SidecarProcess.with("plain").set("sidewarp.extensions", "false").start()) {
            Ended ended = CliProcess.run(plain, "show", "device");
            assertThat(ended.exitCode()).as(ended.text()).isZero();
            assertThat(ended.text()).containsPattern("capabilities +none");
        }
    }

    @Test
    void theDeviceIsShownWithItsLimits() {
        JsonNode device = json("device");

        assertThat(device.get("provider").asText()).isEqualTo("software");
        assertThat(device.get("shared_volume").asText())
                .isEqualTo(sidecar.volume().toString());
        assertThat(device.at("/limits/max_regions").asInt()).isEqualTo(1024);
        assertThat(show("device").text()).contains("software").contains("max regions");
    }

    @Test
    void sessionsAreShownWithTheirProcesses() {
        JsonNode sessions = json("sessions");

        assertThat(sessions)
                .extracting(session -> session.get("name").asText())
                .containsExactlyInAnyOrder("shown-session", "sctp-session");
        assertThat(sessions)
                .filteredOn(session -> session.get("name").asText().equals("shown-session"))
                .singleElement()
                .satisfies(session -> {
                    assertThat(session.get("pid").asLong())
                            .isEqualTo(ProcessHandle.current().pid());
                    assertThat(session.get("connections").asInt()).isEqualTo(2);
                    assertThat(session.get("regions").asInt()).isEqualTo(2);
                    assertThat(session.get("registered_octets").asLong()).isEqualTo(12_388);
                });
    }

    @Test
    void filtersSelectObjectsAndSayWhenNoneMatches() {
        String id = Long.toString(link.initiator().id());
        String[] byId = {"connections", "--id", id, "--session", "shown-*", "--peer", "127.*", "--state", "established"
        };

        assertThat(show(byId).output()).hasSize(2).element(1).asString().contains("shown-session");
        assertThat(show("regions", "--region", "shown-*", "--json").json().getFirst())
                .singleElement()
                .satisfies(region -> assertThat(region.get("id").asLong()).isEqualTo(shared.id()));
        assertThat(show("sessions", "--session", "shown-session").output()).hasSize(2);
        assertThat(show("associations", "--peer", "192.0.2.1").output())
                .containsExactly("none of 1 associations matches --peer 192.0.2.1");
        assertThat(show("associations", "--peer", "192.0.2.1", "--json").output())
                .containsExactly("[]");
    }

    @Test
    void watchShowsObjectsAgain() {
        List<String> lines = show("sessions", "--watch", "50ms", "--count", "2").output();

        assertThat(lines).hasSize(8);
        assertThat(lines.subList(0, 4)).isEqualTo(lines.subList(4, 8));
        assertThat(show("sessions", "--watch", "50ms", "--count", "3", "--json").json())
                .hasSize(3)
                .allMatch(sessions -> sessions.size() == 2);
    }
}
