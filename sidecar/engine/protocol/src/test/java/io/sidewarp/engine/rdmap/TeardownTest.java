// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.sendLast;
import static io.sidewarp.engine.testing.Ulpdus.sendMore;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static io.sidewarp.engine.testing.Ulpdus.writeMore;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.RdmapError;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the ends of a stream other than a Terminate. */
class TeardownTest {

    private static final int REMOTE = 0x0A0B0C0D;
    private static final byte[] ONE = hex("01");

    @AutoClose
    private final LoneStream stream = new LoneStream();

    private final MemoryRegion region = stream.region(64 * 1024);

    private boolean closedWithoutError() {
        return stream.stream().state() == StreamState.CLOSED && stream.stream().error() == null;
    }

    @Test
    @Requirement("DDP-6.2.1-01")
    void aCloseCarriesOutEverythingPostedFirst() {
        stream.wire().room(1);
        stream.endpoint().write(1).with(region).remote(REMOTE, 0).post();
        stream.endpoint().send(2).post();

        stream.stream().close();
        int segments = 0;
        while (stream.wire().output()) {
            segments++;
            assertThat(stream.wire().outputEnded()).isEqualTo(segments == 66);
        }

        assertThat(stream.wire().takeAll())
                .hasSize(66)
                .last()
                .extracting(Segment::opcode)
                .isEqualTo(3);
        assertThat(stream.wire().closing()).isFalse();
        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
    }

    @Test
    @Requirement("DDP-6.2.1-01")
    void aCloseWaitsForOwnReads() {
        stream.endpoint().read(1).with(region, 0, 4).remote(REMOTE, 0).post();
        stream.stream().close();
        stream.output();
        assertThat(stream.wire().outputEnded()).isFalse();

        stream.input(readResponse(region.stag(), 0, hex("01020304")));
        stream.output();

        assertThat(stream.wire().outputEnded()).isTrue();
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS);
    }

    @Test
    void aCloseWaitsForResponsesToThePeer() {
        stream.wire().room(1);
        stream.input(readRequest(1, 1, 0, 5000, region.stag(), 0));
        stream.stream().close();

        assertThat(stream.output()).hasSize(5);
        assertThat(stream.wire().outputEnded()).isTrue();
    }

    @Test
    @Requirement("DDP-6.2.1-04")
    void afterTheOwnCloseReceptionGoesOn() {
        stream.endpoint().receive(1).with(region, 0, 10).post();
        stream.stream().close();
        stream.output();

        stream.input(write(region.stag(), 100, ONE), send(1, ONE));

        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.SUCCESS);
        assertThat(TestMemory.get(region, 100, 1)).isEqualTo(ONE);
    }

    @Test
    @Requirement("DDP-6.2.1-05")
    void aCloseByBothSidesEndsWithoutError() {
        stream.endpoint().receive(1).with(region, 0, 10).post();
        stream.stream().close();
        stream.output();
        stream.wire().peerClosed();
        stream.wire().over(true, "closed");

        assertThat(stream.events().states()).containsExactly(StreamState.CLOSING, StreamState.CLOSED);
        assertThat(stream.events().messages()).containsOnly("closed by this side");
        assertThat(stream.events().errors()).isEmpty();
        assertThat(closedWithoutError()).isTrue();
        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(stream.completions().notified()).isTrue();
    }

    @Test
    @Requirement({"DDP-6.2.1-04", "DDP-6.2.1-05"})
    void whenThePeerClosedWhatIsPostedStillGoesOutAndThenTheOtherHalfIsClosedInOrder() {
        stream.wire().room(1);
        stream.endpoint().write(1).with(region, 0, 3000).remote(REMOTE, 0).post();
        stream.endpoint().send(2).post();
        stream.wire().output();

        stream.wire().peerClosed();
        assertThat(stream.events().states()).containsExactly(StreamState.CLOSING);
        assertThat(stream.output()).hasSize(4);

        assertThat(stream.wire().outputEnded()).isTrue();
        assertThat(stream.wire().closing()).isFalse();
        assertThat(stream.wire().aborted()).isFalse();
        stream.wire().over(true, "closed");
        assertThat(stream.completions().sendStatuses())
                .containsOnly(CqeStatus.SUCCESS)
                .hasSize(2);
        assertThat(closedWithoutError()).isTrue();
    }

    @Test
    void whenThePeerClosedItsReadsAreStillAnswered() {
        stream.input(readRequest(1, 7, 0, 3000, region.stag(), 0));

        stream.wire().peerClosed();

        assertThat(stream.output()).hasSize(3).extracting(Segment::opcode).containsOnly(2);
        assertThat(stream.wire().outputEnded()).isTrue();
    }

    @Test
    void whenThePeerClosedAReadInFlightFailsInsteadOfWaitingForever() {
        stream.endpoint().read(1).with(region, 0, 1).remote(REMOTE, 0).post();
        stream.output();

        stream.wire().peerClosed();

        assertThat(stream.completions().sendIds()).containsExactly(1L);
        assertThat(stream.completions().sendStatuses()).doesNotContain(CqeStatus.SUCCESS);
        assertThat(stream.stream().error().layer()).isEqualTo(2);
        assertThat(stream.stream().state()).isEqualTo(StreamState.TERMINATED);
    }

    @Test
    void whenThePeerClosedAReadPostedEarlierFailsInsteadOfWaitingForever() {
        stream.wire().room(0);
        stream.endpoint().send(1).post();
        stream.endpoint().read(2).with(region, 0, 1).remote(REMOTE, 0).post();
        stream.wire().peerClosed();

        stream.wire().room(Integer.MAX_VALUE);
        stream.output();

        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
        assertThat(stream.completions().sendStatuses().getLast()).isNotEqualTo(CqeStatus.SUCCESS);
        assertThat(stream.wire().closing()).isTrue();
    }

    @Test
    @Requirement({"DDP-6.2.1-03", "DDP-6.2.2-01"})
    void whatArrivesBehindThePeersCloseAbortsTheStream() {
        stream.endpoint().receive(1).with(region, 0, 10).post();
        stream.wire().peerClosed();

        stream.input(write(region.stag(), 0, ONE), send(1, ONE));

        assertThat(stream.wire().aborted()).isTrue();
        assertThat(TestMemory.get(region, 0, 1)).containsOnly(0);
        stream.wire().over(false, "aborted");
        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(stream.stream().error()).isNotNull();
    }

    @Test
    @Requirement({"RDMAP-7.1-01", "RDMAP-6.2.1-01"})
    void aCloseOfThePeerInTheMiddleOfAMessageIsAnErrorThatItIsStillTold() {
        stream.endpoint().receive(1).with(region, 0, 10).post();
        stream.input(sendMore(1, 0, ONE));

        stream.wire().peerClosed();

        assertThat(stream.stream().error()).isNotNull();
        assertThat(stream.stream().error().code()).isEqualTo(LlpError.CONNECTION_LOST.code());
        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(stream.onlyOutput().payload()).isEqualTo(hex("20 01 00 00"));
        assertThat(stream.wire().closing()).isTrue();
    }

    @Test
    @Requirement({"RDMAP-7.1-01", "RDMAP-6.2.1-01"})
    void aWholeMessageOfAnotherQueueDoesNotEndTheOneInWhoseMiddleThePeerCloses() {
        stream.endpoint().receive(1).with(region, 0, 10).post();
        stream.input(sendMore(1, 0, ONE), write(region.stag(), 20, ONE));

        stream.wire().peerClosed();

        assertThat(stream.stream().error()).isNotNull();
        assertThat(stream.stream().error().code()).isEqualTo(LlpError.CONNECTION_LOST.code());
        assertThat(stream.onlyOutput().payload()).isEqualTo(hex("20 01 00 00"));
    }

    @Test
    @Requirement({"RDMAP-7.1-01", "RDMAP-6.2.1-01"})
    void aWholeSendDoesNotEndTheWriteInWhoseMiddleThePeerCloses() {
        stream.endpoint().receive(1).with(region, 0, 10).post();
        stream.input(writeMore(region.stag(), 20, ONE), send(1, ONE));

        stream.wire().peerClosed();

        assertThat(stream.stream().error()).isNotNull();
        assertThat(stream.onlyOutput().payload()).isEqualTo(hex("20 01 00 00"));
    }

    @Test
    @Requirement({"RDMAP-7.1-01", "RDMAP-6.2.1-01"})
    void aWholeReadResponseDoesNotEndTheWriteInWhoseMiddleThePeerCloses() {
        stream.endpoint().read(1).with(region, 0, 1).remote(REMOTE, 0).post();
        stream.output();
        stream.input(writeMore(region.stag(), 20, ONE), readResponse(region.stag(), 0, ONE));
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS);

        stream.wire().peerClosed();

        assertThat(stream.stream().error()).isNotNull();
        assertThat(stream.onlyOutput().payload()).isEqualTo(hex("20 01 00 00"));
    }

    @Test
    void aCloseOfThePeerBehindAWholeMessageIsNone() {
        stream.endpoint().receive(1).with(region, 0, 10).post();
        stream.input(
                writeMore(region.stag(), 0, ONE),
                write(region.stag(), 1, ONE),
                sendMore(1, 0, ONE),
                sendLast(1, 1, ONE));

        stream.wire().peerClosed();
        stream.output();
        stream.wire().over(true, "closed");

        assertThat(closedWithoutError()).isTrue();
    }

    @Test
    @Requirement({"RDMAP-6.2.1-05", "DDP-6.2.2-01", "DDP-6.2.2-02", "DDP-3-03"})
    void aLostConnectionIsAnErrorAndFlushesEverything() {
        stream.wire().holdTransfer(true);
        stream.endpoint().receive(1).with(region, 0, 10).post();
        for (int i = 0; i < 10; i++) {
            stream.endpoint().send(i).with(region, 0, 100).post();
        }
        stream.wire().output();
        stream.endpoint().read(10).with(region, 0, 1).remote(REMOTE, 0).post();

        stream.wire().over(false, "connection reset");

        assertThat(stream.completions().sends()).hasSize(11);
        assertThat(stream.completions().sendStatuses()).containsOnly(CqeStatus.FLUSHED);
        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(stream.stream().error().layer()).isEqualTo(2);
        assertThat(stream.stream().error().code()).isEqualTo(1);
        assertThat(stream.stream().error().remote()).isFalse();
        assertThat(stream.events().states()).containsExactly(StreamState.CLOSED);
        assertThat(stream.events().messages()).containsExactly("connection reset");
        assertThat(stream.completions().notified()).isTrue();
    }

    @Test
    void aGracefulEndThatThisSideDidNotAgreeToIsALoss() {
        stream.endpoint().send(1).post();
        stream.wire().peerClosed();
        stream.wire().over(true, "closed");

        assertThat(stream.stream().error()).isNotNull();
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    void whatWasTakenOverBeforeTheLossIsComplete() {
        stream.wire().holdTransfer(true);
        stream.endpoint().send(1).post();
        stream.wire().output();
        stream.wire().silentlyTransferAll();
        stream.endpoint().send(2).post();

        stream.wire().over(false, "reset");

        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS, CqeStatus.FLUSHED);
    }

    @Test
    void nothingIsPlacedBehindTheEnd() {
        stream.wire().over(false, "reset");

        stream.input(write(region.stag(), 0, ONE));

        assertThat(TestMemory.get(region, 0, 1)).containsOnly(0);
        assertThat(stream.output()).isEmpty();
    }

    @Test
    void anEndIsToldOnce() {
        stream.wire().over(false, "reset");
        stream.stream().onClosed(true, "again");
        stream.stream().close();
        stream.stream().abort();
        stream.stream().fail(RdmapError.LOCAL_CATASTROPHIC);
        stream.wire().error(LlpError.CRC_MISMATCH);
        stream.wire().peerClosed();

        assertThat(stream.events().states()).containsExactly(StreamState.CLOSED);
    }

    @Test
    void anAbortGoesStraightToTheLowerLayer() {
        stream.endpoint().send(1).post();

        stream.stream().abort();

        assertThat(stream.wire().aborted()).isTrue();
        stream.wire().over(false, "aborted");
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(stream.output()).isEmpty();
    }

    @Test
    void closingTwiceIsClosingOnce() {
        stream.stream().close();
        stream.stream().close();
        stream.output();
        stream.stream().close();

        assertThat(stream.events().states()).containsExactly(StreamState.CLOSING);
        assertThat(stream.output()).isEmpty();
    }

    @Test
    void workPostedBehindTheEndOfOutputIsFlushedWithTheStream() {
        stream.stream().close();
        stream.output();
        stream.endpoint().send(1).post();
        assertThat(stream.output()).isEmpty();

        stream.wire().peerClosed();
        stream.wire().over(true, "closed");

        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    void anIdleStreamClosesAtOnce() {
        stream.stream().close();

        assertThat(stream.output()).isEmpty();
        assertThat(stream.wire().outputEnded()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(LlpError.class)
    @Requirement({"DDP-7-01", "DDP-6.2.2-01"})
    void everyErrorOfTheLowerLayerFlushesAndIsReported(LlpError error) {
        stream.endpoint().receive(1).with(region, 0, 10).post();
        stream.endpoint().read(2).with(region, 0, 10).remote(REMOTE, 0).post();
        stream.output();

        stream.wire().error(error);
        stream.output();
        stream.wire().over(true, "closed");

        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(stream.stream().error().name()).isEqualTo(error.description());
        assertThat(stream.events().states()).containsExactly(StreamState.TERMINATED, StreamState.CLOSED);
    }

    @Test
    void theLowerLayersErrorDuringACloseIsReportedToo() {
        stream.endpoint().send(1).with(region).post();
        stream.wire().room(1);
        stream.stream().close();
        stream.wire().output();
        stream.wire().takeAll();

        stream.wire().error(LlpError.CRC_MISMATCH);

        assertThat(stream.onlyOutput().payload()).isEqualTo(hex("20 02 00 00"));
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }
}
