// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import static io.sidewarp.engine.testing.Octets.hex;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SctpPipe;
import io.sidewarp.engine.testing.SessionRecorder;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that the DDP-SSNs decide about the order of chunks, not their arrival (RFC 5043 sections 6.1 and 10). */
class SessionOrderTest {

    private static final AdaptationSettings DEFAULTS = AdaptationSettings.defaults();

    private static Stream<List<String>> permutations(String... items) {
        if (items.length == 0) {
            return Stream.of(List.of());
        }
        return Stream.of(items)
                .flatMap(first -> permutations(Stream.of(items)
                                .filter(item -> !item.equals(first))
                                .toArray(String[]::new))
                        .map(rest -> {
                            List<String> all = new ArrayList<>(rest);
                            all.addFirst(first);
                            return all;
                        }));
    }

    private static void inject(SctpEnd end, List<String> messages) {
        for (String message : messages) {
            String[] parts = message.split(" ", 2);
            end.inject(0, Integer.parseInt(parts[0]), parts[1]);
            end.rest();
        }
    }

    static Stream<List<String>> whatFollowsAnInitiate() {
        return permutations("17 0000 0002 77", "16 0001 a1", "16 0002 a2", "17 0003 0004");
    }

    @ParameterizedTest
    @MethodSource("whatFollowsAnInitiate")
    @Requirement({"SCTP-6.1-02", "SCTP-10-02", "SCTP-6-02", "DDP-3-05", "DDP-3-07"})
    void theActiveSideTakesAnAcceptSegmentsAndATerminateInAnyOrderOfArrival(List<String> messages) {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.initiate();
        end.rest();

        inject(end, messages);

        assertThat(active.agreed().privateData()).containsExactly(0x77);
        assertThat(active.segments()).containsExactly("a1", "a2");
        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
        assertThat(end.association().counters().violations()).isZero();
    }

    static Stream<List<String>> aSessionWithoutEnd() {
        return permutations("17 0000 0001 77", "16 0001 a1", "16 0002 a2", "16 0003 a3");
    }

    @ParameterizedTest
    @MethodSource("aSessionWithoutEnd")
    @Requirement({"SCTP-6.1-02", "SCTP-10-02", "DDP-3-05"})
    void thePassiveSideTakesAnInitiateAndSegmentsInAnyOrderOfArrival(List<String> messages) {
        SctpEnd end = SctpEnd.alone(1);

        inject(end, messages);

        assertThat(end.asked()).singleElement().satisfies(passive -> {
            assertThat(passive.asked().privateData()).containsExactly(0x77);
            assertThat(passive.segments()).containsExactly("a1", "a2", "a3");
            assertThat(passive.events()).containsExactly("established");
        });
    }

    static Stream<List<String>> theEndOfASession() {
        return permutations("16 0001 a1", "16 0002 a2", "17 0003 0004");
    }

    @ParameterizedTest
    @MethodSource("theEndOfASession")
    @Requirement({"SCTP-6.1-02", "SCTP-10-02"})
    void thePassiveSideTakesSegmentsAndATerminateInAnyOrderOfArrivalAlsoBeforeItsConsumerDecides(
            List<String> messages) {
        SctpEnd end = SctpEnd.alone(1);
        end.onInitiate(recorder -> true);
        end.inject(0, 17, "0000 0001");

        inject(end, messages);
        SessionRecorder passive = end.asked().getFirst();
        assertThat(passive.events()).isEmpty();
        passive.accept();
        end.rest();

        assertThat(passive.segments()).containsExactly("a1", "a2");
        assertThat(passive.events()).startsWith("established", "peer closed");
    }

    @Test
    @Requirement({"SCTP-5.2.1-01", "SCTP-6-02"})
    void theDdpSsnCountsEveryChunkAndWrapsFrom65535To0() {
        SctpEnd left = SctpEnd.pair(1);
        left.pipe().window(1000);
        left.peer().pipe().window(1000);
        SessionRecorder active = left.initiate();
        left.rest();
        SessionRecorder passive = left.peer().asked().getFirst();
        byte[][] segments = new byte[65_600][1];

        active.send(segments);
        passive.send(segments);
        left.rest();
        active.session().lowerLayer().closeOutput();
        left.rest();

        for (SctpEnd end : List.of(left, left.peer())) {
            List<SctpPipe.Message> log = end.pipe().log();
            assertThat(log).hasSize(1 + 65_600 + 1);
            for (int i = 0; i < log.size(); i++) {
                assertThat(WireBuffer.copyOf(log.get(i).octets()).getUnsignedShort(0))
                        .isEqualTo(i % 65_536);
            }
            assertThat(log.get(65_535).toString()).isEqualTo("0:16 ff ff 00");
            assertThat(log.get(65_536).toString()).isEqualTo("0:16 00 00 00");
            assertThat(log.getLast().toString()).isEqualTo("0:17 00 41 00 04");
        }
        assertThat(passive.segments()).hasSize(65_600);
        assertThat(active.segments()).hasSize(65_600);
        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
    }

    static Stream<Arguments> illegalBeginnings() {
        return Stream.of(
                Arguments.of("a segment where the Initiate has to be", 16, "0000 41"),
                Arguments.of("an Accept nobody asked for", 17, "0000 0002"),
                Arguments.of("a Reject nobody asked for", 17, "0000 0003"),
                Arguments.of("an unknown function code", 17, "0000 0008"),
                Arguments.of("function code 0", 17, "0000 0000"),
                Arguments.of("an Enhanced Initiate without depths", 17, "0000 0005 000000"),
                Arguments.of("half a function code", 17, "0000 00"),
                Arguments.of("a DDP-SSN alone", 16, "0000"),
                Arguments.of("one octet", 16, "00"),
                Arguments.of("nothing", 16, ""),
                Arguments.of("payload protocol 0", 0, "0000 0001"),
                Arguments.of("payload protocol 15", 15, "0000 0001"),
                Arguments.of("payload protocol 18", 18, "0000 0001"),
                Arguments.of("a DDP-SSN out of reach", 16, "8000 41"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("illegalBeginnings")
    @Requirement({"SCTP-6.1-02", "SCTP-5.1-02", "SCTP-5.2.3-01", "SCTP-10-04", "SCTP-11.3-03", "DDP-3-08"})
    void anIllegalBeginningIsAnsweredWithATerminateAndOtherSessionsGoOn(
            String what, int payloadProtocol, String octets) {
        SctpEnd end = SctpEnd.alone(2);
        SessionRecorder other = openPassive(end, 1);

        end.inject(0, payloadProtocol, octets);
        end.rest();

        assertThat(end.sent(0)).as(what).containsExactly("0:17 00 00 00 04");
        assertThat(end.asked()).hasSize(1);
        assertThat(end.association().counters().violations()).isEqualTo(1);
        assertGoesOn(end, other);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a DDP-SSN alone, 16, 0000",
        "payload protocol 99, 99, 0000 41",
        "a segment where the Initiate has to be, 16, 0000 41"
    })
    @Requirement("SCTP-6.1-01")
    void behindAnIllegalBeginningASessionCanBeginOnTheStream(String what, int payloadProtocol, String octets) {
        SctpEnd end = SctpEnd.alone(1);

        end.inject(0, payloadProtocol, octets);
        end.rest();
        assertThat(end.asked()).as(what).isEmpty();
        end.inject(0, 17, "0000 0001");
        end.rest();

        assertThat(end.asked()).as(what).hasSize(1);
    }

    static Stream<Arguments> illegalContinuations() {
        return Stream.of(
                Arguments.of("a second Initiate", List.of("17 0001 0001")),
                Arguments.of("an Accept", List.of("17 0001 0002")),
                Arguments.of("a Reject", List.of("17 0001 0003")),
                Arguments.of("an Enhanced Initiate", List.of("17 0001 0005 00000000")),
                Arguments.of("an unknown function code", List.of("17 0001 ffff")),
                Arguments.of("a Terminate with Private Data", List.of("17 0001 0004 00")),
                Arguments.of("a control message of 3 octets", List.of("17 0001 00")),
                Arguments.of("a chunk without segment", List.of("16 0001")),
                Arguments.of("payload protocol 0", List.of("0 0001 41")),
                Arguments.of("a DDP-SSN out of reach", List.of("16 9c40 41")),
                Arguments.of("a duplicate of what was taken", List.of("16 0001 41", "16 0001 41")),
                Arguments.of("a duplicate of what waits", List.of("16 0003 41", "16 0003 41")),
                Arguments.of("a duplicate Initiate", List.of("17 0000 0001")),
                Arguments.of("a segment behind the Terminate", List.of("17 0001 0004", "16 0002 41")),
                Arguments.of("a second Terminate", List.of("17 0001 0004", "17 0002 0004")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("illegalContinuations")
    @Requirement({"SCTP-6.1-02", "SCTP-5.1-02", "SCTP-5.2.3-03", "SCTP-11.3-03", "DDP-3-08", "DDP-3-11"})
    void anIllegalContinuationEndsTheSessionAndNoOther(String what, List<String> messages) {
        SctpEnd end = SctpEnd.alone(2);
        SessionRecorder other = openPassive(end, 1);
        SessionRecorder session = openPassive(end, 0).staysOpen();

        inject(end, messages);
        end.acknowledge();
        end.inject(0, 16, "0002 42");
        end.rest();

        assertThat(session.events()).as(what).endsWith("broken");
        assertThat(session.cause()).contains("the peer broke RFC 5043 on stream 0");
        assertThat(end.sent(0)).containsExactly("0:17 00 00 00 02", "0:17 00 01 00 04");
        assertThat(session.segments()).hasSizeLessThanOrEqualTo(1).doesNotContain("42");
        assertGoesOn(end, other);
    }

    private static SessionRecorder openPassive(SctpEnd end, int stream) {
        end.inject(stream, 17, "0000 0001");
        end.rest();
        return end.asked().getLast();
    }

    private static void assertGoesOn(SctpEnd end, SessionRecorder other) {
        other.send(hex("c1"));
        end.inject(1, 16, "0001 c2");
        end.rest();
        assertThat(other.events()).containsExactly("established");
        assertThat(other.segments()).containsExactly("c2");
        assertThat(end.sent(1)).containsExactly("1:17 00 00 00 02", "1:16 00 01 c1");
    }

    @Test
    void illegalAnswersFailTheSession() {
        for (String answer : List.of("0000 0006 00000000", "0000 0007 00000000", "0000 0004 00", "0000 0009")) {
            SctpEnd end = SctpEnd.alone(1);
            SessionRecorder active = end.initiate();
            end.rest();

            end.inject(0, 17, answer);
            end.acknowledge();

            assertThat(active.events()).as(answer).containsExactly("failed");
            assertThat(end.sent()).containsExactly("0:17 00 00 00 01", "0:17 00 01 00 04");
        }
    }

    @Test
    void aSegmentInPlaceOfTheAnswerFailsTheSession() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.initiate();
        end.rest();

        end.inject(0, 16, "0000 41");
        end.acknowledge();

        assertThat(active.events()).containsExactly("failed");
        assertThat(active.cause()).contains("a DDP Segment before the answer to the Initiate");
        assertThat(end.sent()).containsExactly("0:17 00 00 00 01", "0:17 00 01 00 04");
    }

    @Test
    @Requirement("SCTP-10-04")
    void theFarthestDdpSsnThatIsTakenIsASettingAndAChunkWithItCostsNoMoreThanItself() {
        SctpEnd end = SctpEnd.alone(2);
        openPassive(end, 0);
        SessionRecorder session = end.asked().getFirst();
        end.inject(0, 16, "0003 41");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        WireBuffer message = WireBuffer.copyOf(hex("8000 41"));

        long before = threads.getCurrentThreadAllocatedBytes();
        end.association().onMessage(0, 16, message, 0, 3);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        end.association().onInputDone();
        end.rest();

        assertThat(session.events()).containsExactly("established");
        assertThat(allocated).isLessThan(4096);
        end.inject(0, 16, "8001 41");
        end.rest();
        assertThat(session.events()).containsExactly("established", "broken");
        assertThat(session.cause()).contains("DDP-SSN 32769 when 1 is due");
    }

    @Test
    void sessionsThatWaitForTheirInitiateAreBounded() {
        SctpEnd end =
                SctpEnd.alone(new AdaptationSettings(10_000, 20_000, 10_000, 100, 2, 100, Duration.ofSeconds(5)), 4);

        for (int stream = 0; stream < 3; stream++) {
            end.inject(stream, 16, "0001 a1");
        }
        end.rest();

        assertThat(end.sent()).containsExactly("2:17 00 00 00 04");
        for (int stream = 0; stream < 3; stream++) {
            end.inject(stream, 17, "0000 0001");
        }
        end.rest();
        assertThat(end.asked())
                .hasSize(2)
                .allSatisfy(passive -> assertThat(passive.segments()).containsExactly("a1"));
        assertThat(end.sent()).containsExactly("2:17 00 00 00 04", "0:17 00 00 00 02", "1:17 00 00 00 02");
    }

    @Test
    void aSessionWhoseInitiateDoesNotComeIsTerminatedAfterTheLingerTimeout() {
        SctpEnd end = SctpEnd.alone(1);
        end.inject(0, 16, "0001 a1");
        end.advance(DEFAULTS.lingerTimeout().toNanos() - 1);
        assertThat(end.sent()).isEmpty();

        end.advance(1);
        end.advance(DEFAULTS.lingerTimeout().toNanos());

        assertThat(end.sent()).containsExactly("0:17 00 00 00 04");
        assertThat(end.events()).containsExactly("established", "idle");
    }

    @Test
    void anInitiateThatComesInTimeStopsTheWait() {
        SctpEnd end = SctpEnd.alone(1);
        end.inject(0, 16, "0001 a1");

        end.inject(0, 17, "0000 0001");
        end.advance(DEFAULTS.lingerTimeout().toNanos() * 3);

        assertThat(end.asked().getFirst().events()).containsExactly("established");
    }

    @Test
    @Requirement("SCTP-6.6-01")
    void aTerminateWithoutSessionIsTheLastWordAboutOneThatIsForgotten() {
        SctpEnd end = SctpEnd.alone(1);

        end.inject(0, 17, "0001 0004");
        end.rest();

        assertThat(end.sent()).isEmpty();
        assertThat(end.association().occupiedStreams()).isZero();
    }
}
