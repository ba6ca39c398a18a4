// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SctpPipe;
import io.sidewarp.engine.testing.SessionRecorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what the sessions of an association share: beginning and end, room in SCTP, acknowledgements and path. */
class AssociationTest {

    private static final int LARGE = 1000;

    @Test
    @Requirement({"SCTP-11.1-01", "SCTP-7.1-02"})
    void withoutAdaptationIndicationNoDdpIsSpoken() {
        SctpEnd end = SctpEnd.down(AdaptationSettings.defaults());

        end.association().onEstablished(4, 4, OptionalInt.empty());

        assertNoDdp(end, "the peer indicates no adaptation layer");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 0x0100_0000, -1})
    @Requirement({"SCTP-11.1-01", "SCTP-7.1-02"})
    void withAnotherAdaptationIndicationNoDdpIsSpoken(int indication) {
        SctpEnd end = SctpEnd.down(AdaptationSettings.defaults());

        end.association().onEstablished(4, 4, OptionalInt.of(indication));

        assertNoDdp(end, "adaptation layer 0x" + Integer.toHexString(indication));
    }

    private static void assertNoDdp(SctpEnd end, String why) {
        assertThat(end.pipe().aborted()).contains(why);
        end.inject(0, 17, "0000 0001");
        assertThat(end.association().hasFreeStream()).isFalse();
        assertThatIllegalStateException().isThrownBy(end::initiate).withMessage("the association is not up");
        end.rest();
        assertThat(end.sent()).isEmpty();
        assertThat(end.asked()).isEmpty();
        assertThat(end.events()).containsExactly("broken");
    }

    @Test
    void asManyStreamsAsBothDirectionsHaveCarrySessions() {
        SctpEnd end = SctpEnd.down(AdaptationSettings.defaults());

        end.association().onEstablished(3, 5, OptionalInt.of(1));

        assertThat(end.association().streams()).isEqualTo(3);
        end.initiate();
        end.initiate();
        end.initiate();
        assertThatIllegalStateException().isThrownBy(end::initiate).withMessage("all 3 streams are in use");
    }

    @Test
    @Requirement({"SCTP-11.3-01", "SCTP-11.3-02", "DDP-3-03"})
    void theLossOfTheAssociationIsToldToEverySessionAndSendsNothing() {
        SctpEnd end = SctpEnd.alone(8);
        SessionRecorder requested = end.initiate();
        end.rest();
        end.onInitiate(recorder -> {
            if (recorder.session().stream() != 7) {
                recorder.accept();
            }
            return true;
        });
        for (int stream = 5; stream < 8; stream++) {
            end.inject(stream, 17, "0000 0001");
        }
        end.rest();
        List<SessionRecorder> passive = end.asked();
        passive.get(1).send(new byte[LARGE]);
        end.pipe().window(0);
        end.pipe().turn();
        int sent = end.sent().size();

        end.pipe().lose("all paths failed");
        end.pipe().window(100);
        end.association().produce();

        assertThat(requested.events()).containsExactly("failed");
        assertThat(passive.get(0).events()).containsExactly("established", "broken");
        assertThat(passive.get(1).events()).containsExactly("established", "broken");
        assertThat(passive.get(2).events()).containsExactly("failed");
        assertThat(passive.get(1).cause()).isEqualTo("all paths failed");
        assertThat(end.events()).containsExactly("established", "broken");
        assertThat(end.sent()).hasSize(sent);
        assertThat(end.association().occupiedStreams()).isZero();
        assertThat(end.association().hasFreeStream()).isFalse();
    }

    @Test
    @Requirement({"SCTP-11.3-01", "SCTP-11.3-02"})
    void anAbortOfTheAssociationSendsNoTerminates() {
        SctpEnd left = SctpEnd.pair(100);
        for (int i = 0; i < 100; i++) {
            left.initiate();
        }
        left.rest();
        int sent = left.sent().size();

        left.association().abort("the peer is not trusted any more");
        left.peer().asked().forEach(passive -> assertThat(passive.events()).containsExactly("established"));
        left.association().produce();
        left.rest();

        assertThat(left.sent()).hasSize(sent);
        assertThat(left.pipe().aborted()).isEqualTo("the peer is not trusted any more");
        assertThat(left.peer().asked())
                .hasSize(100)
                .allSatisfy(passive -> assertThat(passive.events()).containsExactly("established", "broken"));
        assertThat(left.events()).containsExactly("established", "broken");
        assertThat(left.peer().events()).containsExactly("established", "broken");
    }

    @Test
    @Requirement({"DDP-3-09", "DDP-3-10"})
    void theEndOfTheLastSessionIsToldAndTheGracefulEndOfTheAssociationAsSomethingElse() {
        SctpEnd left = SctpEnd.pair(2);
        SessionRecorder one = left.initiate();
        SessionRecorder other = left.initiate();
        left.rest();

        one.session().lowerLayer().closeOutput();
        left.rest();
        assertThat(one.events()).containsExactly("established", "peer closed", "closed");
        assertThat(left.events()).containsExactly("established");
        other.session().abort();
        left.rest();
        assertThat(left.events()).containsExactly("established", "idle");
        assertThat(left.peer().events()).containsExactly("established", "idle");
        left.pipe().shutdown();
        left.rest();

        assertThat(left.events()).containsExactly("established", "idle", "closed");
        assertThat(left.peer().events()).containsExactly("established", "idle", "closed");
        assertThat(one.events()).hasSize(3);
    }

    @Test
    void aShutdownUnderASessionThatWasNotTerminatedBreaksIt() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder active = left.initiate();
        left.rest();

        left.peer().pipe().shutdown();
        left.rest();

        assertThat(active.events()).containsExactly("established", "broken");
        assertThat(left.events()).containsExactly("established", "closed");
    }

    @Test
    void anAssociationIsIdleOnceForEachTimeItWasInUse() {
        SctpEnd left = SctpEnd.pair(1);
        for (int i = 0; i < 3; i++) {
            SessionRecorder active = left.initiate();
            left.rest();
            active.session().lowerLayer().closeOutput();
            left.rest();
        }

        assertThat(left.events()).containsExactly("established", "idle", "idle", "idle");
    }

    @Test
    @Requirement("SCTP-10-03")
    void noMoreThan32767ChunksAreSentWithoutAcknowledgement() {
        SctpEnd end = SctpEnd.alone(2);
        end.pipe().window(100_000);
        SessionRecorder active = end.initiate();
        end.rest();
        end.inject(0, 17, "0000 0002");
        active.send(new byte[40_000][1]);

        end.rest();
        assertThat(end.sent()).hasSize(32_767);
        SessionRecorder other = end.initiate();
        end.rest();
        assertThat(end.sent()).hasSize(32_767);
        end.acknowledge();

        assertThat(end.sent()).hasSize(40_002);
        assertThat(active.unsent()).isZero();
        assertThat(other.events()).isEmpty();
        assertThat(end.sent(1)).containsExactly("1:17 00 00 00 01");
    }

    @Test
    void theNumberOfUnacknowledgedChunksIsASetting() {
        SctpEnd end = SctpEnd.alone(new AdaptationSettings(1000, 2000, 1000, 10, 1, 3, Duration.ofSeconds(5)), 8);
        for (int i = 0; i < 5; i++) {
            end.initiate();
        }

        end.rest();
        assertThat(end.sent()).hasSize(3);
        end.acknowledge();

        assertThat(end.sent()).hasSize(5);
    }

    @ParameterizedTest
    @CsvSource({"1450, 1448", "518, 516", "517, 516", "400, 516", "65536, 65534", "100000, 65534"})
    @Requirement({"SCTP-9-01", "DDP-3-01"})
    void theLargestSegmentIsWhatThePathTakesButNeverLessThan516Octets(int message, int segment) {
        SctpEnd end = SctpEnd.alone(1);

        end.pipe().maxMessage(message);

        SessionRecorder active = end.initiate();
        assertThat(active.session().lowerLayer().mulpdu()).isEqualTo(segment);
    }

    @Test
    @Requirement({"SCTP-9-02"})
    void aLargerSegmentIsRefusedAndNothingIsSent() {
        SctpEnd left = SctpEnd.pair(1);
        left.pipe().maxMessage(602);
        SessionRecorder active = left.initiate();
        left.rest();
        active.send(new byte[600]);
        left.rest();
        active.send(new byte[601]);

        assertThatIllegalArgumentException()
                .isThrownBy(left::rest)
                .withMessage("DDP Segment of 601 bytes; the largest has 600 (RFC 5043 section 9)");

        left.rest();
        assertThat(left.pipe().log().stream().map(message -> message.octets().length))
                .containsExactly(4, 602);
        assertThat(active.events()).containsExactly("established");
    }

    @Test
    @Requirement({"DDP-3-01", "DDP-3-02", "SCTP-9-01"})
    void aPathThatShrinksChangesWhatIsClaimedNextAndNothingThatWasCommitted() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder active = left.initiate();
        left.rest();
        left.pipe().window(0);
        active.send(new byte[1400]);
        left.association().produce();

        left.pipe().maxMessage(1002);
        left.pipe().window(10);
        left.pipe().requestOutput();
        left.rest();
        active.send(new byte[1000]);
        left.rest();

        assertThat(active.session().lowerLayer().mulpdu()).isEqualTo(1000);
        assertThat(left.pipe().log().stream().map(message -> message.octets().length))
                .containsExactly(4, 1402, 1002);
        assertThat(left.peer().asked().getFirst().segments()).hasSize(2);
    }

    @Test
    void nothingIsProducedBehindAMessageThatSctpDoesNotTake() {
        SctpEnd left = SctpEnd.pair(2);
        SessionRecorder one = left.initiate();
        SessionRecorder other = left.initiate();
        left.rest();
        left.pipe().window(0);

        one.send(new byte[] {1}, new byte[] {2});
        other.send(new byte[] {3}, new byte[] {4});
        left.association().produce();

        assertThat(one.unsent() + other.unsent()).isEqualTo(3);
        assertThat(one.session().lowerLayer().committedPosition()).isEqualTo(1);
        assertThat(one.session().lowerLayer().transferredPosition()).isZero();
        assertThat(one.transfers()).isZero();
        left.pipe().window(10);
        left.pipe().requestOutput();
        left.rest();
        assertThat(one.session().lowerLayer().transferredPosition()).isEqualTo(2);
        assertThat(one.transfers()).isPositive();
        assertThat(left.peer().asked().get(0).segments()).containsExactly("01", "02");
        assertThat(left.peer().asked().get(1).segments()).containsExactly("03", "04");
    }

    @Test
    void busySessionsTakeTurns() {
        SctpEnd left = SctpEnd.pair(2);
        SessionRecorder one = left.initiate();
        SessionRecorder other = left.initiate();
        left.rest();
        left.pipe().window(1_000_000);
        left.pipe().maxMessage(1002);
        int turn = 256 * 1024 / 1002 + 1;

        one.send(new byte[3 * turn][LARGE]);
        other.send(new byte[3 * turn][LARGE]);
        left.pipe().log().clear();
        left.rest();

        List<Integer> streams = new ArrayList<>();
        for (SctpPipe.Message message : left.pipe().log()) {
            streams.add(message.stream());
        }
        assertThat(streams).hasSize(6 * turn);
        for (int i = 0; i < streams.size(); i++) {
            assertThat(streams.get(i)).as("message %d", i).isEqualTo(i / turn % 2);
        }
    }

    @Test
    void aBusySessionDoesNotHoldUpTheBeginningOfAnother() {
        SctpEnd left = SctpEnd.pair(2);
        SessionRecorder busy = left.initiate();
        left.rest();
        left.pipe().maxMessage(1002);
        left.pipe().window(1_000_000);
        busy.send(new byte[2000][LARGE]);

        SessionRecorder other = left.initiate();
        left.pipe().turn();

        assertThat(left.sent(1)).containsExactly("1:17 00 00 00 01");
        left.rest();
        assertThat(other.events()).containsExactly("established");
        assertThat(left.peer().asked().getFirst().segments()).hasSize(2000);
    }

    @Test
    void whatWasCarriedIsCounted() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder active = left.initiate();
        left.rest();
        active.send(new byte[] {1}, new byte[] {2});
        left.association().produce();
        left.peer().pipe().deliver(1);
        left.rest();

        AssociationCounters sent = left.association().counters();
        AssociationCounters received = left.peer().association().counters();
        assertThat(sent.chunksSent()).isEqualTo(3);
        assertThat(received.chunksReceived()).isEqualTo(3);
        assertThat(received.earlyChunks()).isEqualTo(1);
        assertThat(received.violations()).isZero();
        assertThat(received.refusedInitiates()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "-1,1,1,1,1,1,1",
        "1,-1,1,1,1,1,1",
        "1,1,-1,1,1,1,1",
        "1,1,1,0,1,1,1",
        "1,1,1,32768,1,1,1",
        "1,1,1,1,-1,1,1",
        "1,1,1,1,1,0,1",
        "1,1,1,1,1,32768,1",
        "1,1,1,1,1,1,-1"
    })
    void settingsOutOfRangeAreRefused(
            int octets, int total, int strangers, int distance, int sessions, int unacknowledged, int linger) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AdaptationSettings(
                        octets, total, strangers, distance, sessions, unacknowledged, Duration.ofSeconds(linger)));
    }
}
