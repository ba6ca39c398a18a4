// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.verbs.RtrKind;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the message without payload that begins a connection in the peer-to-peer model (RFC 6581 section 9.2). */
class ReadyIndicationTest {

    private static final byte[] NOTHING = new byte[0];

    @AutoClose
    private final LoneStream stream = new LoneStream(EndpointOptions.defaults().reads(1, 1));

    private final MemoryRegion region = stream.region(64);

    @ParameterizedTest
    @CsvSource({
        "WRITE, c140000000010000000000000000",
        "SEND, 414300000000000000000000000100000000",
        "READ, 414100000000000000010000000100000000" + "00000001000000000000000000000000000000010000000000000000"
    })
    @Requirement("EMPA-9.2-03")
    void theInitiatorSendsItBeforeWorkThatWasPostedFirst(RtrKind kind, String octets) {
        stream.endpoint().send(1).with(region, 0, 4).post();
        stream.stream().indicateReady(kind);

        List<Segment> sent = stream.output();

        assertThat(sent).hasSize(2);
        assertThat(sent.getFirst().octets()).isEqualTo(hex(octets));
        assertThat(sent.getLast().payload()).hasSize(4);
    }

    @ParameterizedTest
    @EnumSource
    @Requirement("EMPA-9.2-03")
    void theInitiatorSendsItWithoutAnyWorkAndNothingCompletes(RtrKind kind) {
        stream.stream().indicateReady(kind);

        assertThat(stream.output()).hasSize(1);
        stream.wire().transferAll();
        if (kind == RtrKind.READ) {
            stream.input(readResponse(1, 0, NOTHING));
        }

        assertThat(stream.completions().isEmpty()).isTrue();
        assertThat(stream.stream().error()).isNull();
    }

    @Test
    void theNextSendHasTheNextMsn() {
        stream.stream().indicateReady(RtrKind.SEND);
        stream.endpoint().send(1).post();

        assertThat(stream.output()).extracting(Segment::msn).containsExactly(1, 2);
    }

    @Test
    void readsWaitUntilTheIndicationIsAnsweredForItCountsAsOne() {
        stream.stream().indicateReady(RtrKind.READ);
        stream.endpoint().write(1).remote(7, 0).post();
        stream.endpoint().read(2).with(region, 0, 8).remote(7, 0).post();
        assertThat(stream.output()).extracting(Segment::opcode).containsExactly(1, 0);

        stream.input(readResponse(1, 0, NOTHING));
        assertThat(stream.output()).extracting(Segment::msn).containsExactly(2);
        stream.input(readResponse(region.stag(), 0, new byte[8]));

        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
    }

    @Test
    void aResponseWithPayloadEndsTheStream() {
        stream.stream().indicateReady(RtrKind.READ);
        stream.output();

        stream.input(readResponse(region.stag(), 0, new byte[1]));

        assertThat(stream.stream().error()).isNotNull();
        assertThat(stream.stream().state()).isEqualTo(StreamState.TERMINATED);
    }

    @Test
    void aGracefulCloseWaitsForTheAnswer() {
        stream.stream().indicateReady(RtrKind.READ);
        stream.stream().close();
        assertThat(stream.output()).hasSize(1);
        assertThat(stream.wire().outputEnded()).isFalse();

        stream.input(readResponse(1, 0, NOTHING));
        stream.output();

        assertThat(stream.wire().outputEnded()).isTrue();
    }

    @Test
    void aGracefulCloseGoesOnWithoutAnAnswerThatIsGivenUp() {
        stream.stream().indicateReady(RtrKind.READ);
        stream.stream().close();
        stream.output();

        stream.stream().giveUpReadyAnswer();

        assertThat(stream.wire().outputEnded()).isTrue();
        stream.input(readResponse(1, 0, NOTHING));
        assertThat(stream.stream().error()).isNull();
        assertThat(stream.stream().state()).isEqualTo(StreamState.CLOSING);
    }

    @Test
    void anAnswerThatPostedReadsWaitForIsNotGivenUp() {
        stream.stream().indicateReady(RtrKind.READ);
        stream.endpoint().read(1).with(region, 0, 8).remote(7, 0).post();
        stream.stream().close();
        stream.output();

        stream.stream().giveUpReadyAnswer();

        assertThat(stream.wire().outputEnded()).isFalse();
        assertThat(stream.stream().isReadyAnswerOwed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    @Requirement({"DDP-6.2.1-01", "EMPA-9.2-03"})
    void aGracefulCloseWaitsUntilItIsSent(RtrKind kind) {
        stream.wire().room(0);
        stream.stream().indicateReady(kind);
        stream.wire().output();

        stream.stream().close();
        assertThat(stream.wire().outputEnded()).isFalse();
        stream.wire().room(1);

        assertThat(stream.output()).hasSize(1);
    }

    @Test
    @Requirement("EMPA-9.2-03")
    void theResponderTakesASendWithoutAReceiveForIt() {
        stream.stream().expectReadySend();
        stream.endpoint().receive(5).with(region, 0, 8).post();

        stream.input(send(1, NOTHING));
        assertThat(stream.completions().isEmpty()).isTrue();
        stream.input(send(2, new byte[3]));

        assertThat(stream.completions().receiveIds()).containsExactly(5L);
        assertThat(stream.stream().error()).isNull();
    }

    @Test
    @Requirement("EMPA-9.2-03")
    void theResponderNeedsNoReceiveForTheIndication() {
        stream.stream().expectReadySend();

        stream.input(send(1, NOTHING));

        assertThat(stream.stream().state()).isEqualTo(StreamState.OPEN);
    }

    @Test
    void aSecondSendWithoutPayloadIsAMessage() {
        stream.stream().expectReadySend();
        stream.endpoint().receive(5).post();

        stream.input(send(1, NOTHING), send(2, NOTHING));

        assertThat(stream.completions().receiveIds()).containsExactly(5L);
    }

    @Test
    void aSendWithPayloadIsAMessage() {
        stream.stream().expectReadySend();
        stream.endpoint().receive(5).with(region, 0, 8).post();

        stream.input(send(1, new byte[8]));

        assertThat(stream.completions().receiveIds()).containsExactly(5L);
    }

    @Test
    @Requirement("EMPA-9.2-03")
    void aSendBehindAnIndicationByWriteIsAMessage() {
        stream.stream().expectReadySend();
        stream.endpoint().receive(5).post();

        stream.input(write(1, 0, NOTHING), send(1, NOTHING));

        assertThat(stream.completions().receiveIds()).containsExactly(5L);
    }

    @Test
    @Requirement("EMPA-9.2-03")
    void theResponderAnswersAnIndicationByRead() {
        stream.stream().expectReadySend();
        stream.endpoint().receive(5).post();

        stream.input(readRequest(1, 1, 0, 0, 1, 0), send(1, NOTHING));

        assertThat(stream.onlyOutput().octets()).isEqualTo(hex("c142000000010000000000000000"));
        assertThat(stream.completions().receiveIds()).containsExactly(5L);
    }

    @Test
    void withoutTheOfferASendNeedsAReceive() {
        stream.input(send(1, NOTHING));

        assertThat(stream.stream().state()).isEqualTo(StreamState.TERMINATED);
    }
}
