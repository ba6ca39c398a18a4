// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.terminate;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.RecordingSink.Completion;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.verbs.CqeStatus;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests this side's flushes. A flush is a zero-length Read whose answer proves that all earlier data was placed. */
class FlushTest {

    private static final byte[] NOTHING = new byte[0];
    private static final int REMOTE = 0x0A0B0C0D;
    private static final int ORD = 2;

    @AutoClose
    private final LoneStream stream = new LoneStream(EndpointOptions.defaults().reads(4, ORD));

    private final MemoryRegion region = stream.region(4096);

    private void write(long id) {
        stream.endpoint().write(id).with(region, 0, 10).remote(REMOTE, 0).post();
    }

    private List<Integer> opcodesOut() {
        return stream.output().stream().map(Segment::opcode).toList();
    }

    private void answer() {
        stream.input(readResponse(0, 0, NOTHING));
    }

    private List<Long> completed() {
        return stream.completions().sendIds();
    }

    @Test
    @Requirement({"RDMAP-5.2.1-06", "RDMAP-5.5-12"})
    void flushSendsReadOfNoBytesBehindTheWrites() {
        write(1);
        stream.endpoint().flush(2).post();

        List<Segment> out = stream.output();

        assertThat(out)
                .extracting(Segment::opcode)
                .containsExactly(RdmapControl.RDMA_WRITE, RdmapControl.RDMA_READ_REQUEST);
        assertThat(ByteBuffer.wrap(out.get(1).payload()).getInt(12)).isZero();
        stream.wire().transferAll();
        assertThat(completed()).containsExactly(1L);
        answer();
        assertThat(completed()).containsExactly(1L, 2L);
        Completion flush = stream.completions().sends().get(1);
        assertThat(flush.status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(flush.length()).isZero();
    }

    @Test
    void flaggedWriteCompletesOnceWhenThePeerAnswers() {
        stream.endpoint()
                .write(1)
                .with(region, 0, 10)
                .remote(REMOTE, 0)
                .flushed()
                .post();

        assertThat(opcodesOut()).containsExactly(RdmapControl.RDMA_WRITE, RdmapControl.RDMA_READ_REQUEST);
        stream.wire().transferAll();
        assertThat(completed()).isEmpty();
        answer();

        assertThat(completed()).containsExactly(1L);
        assertThat(stream.completions().sends().getFirst().opcode()).isEqualTo(RdmapControl.RDMA_WRITE);
        assertThat(stream.completions().sends().getFirst().length()).isEqualTo(10);
    }

    @Test
    void flaggedWriteWithImmediateSendsThreeMessages() {
        stream.endpoint()
                .write(1)
                .with(region, 0, 10)
                .remote(REMOTE, 0)
                .immediate(7)
                .flushed()
                .post();
        stream.endpoint().send(2).with(region, 0, 1).flushed().post();

        assertThat(opcodesOut())
                .containsExactly(
                        RdmapControl.RDMA_WRITE,
                        RdmapControl.IMMEDIATE,
                        RdmapControl.RDMA_READ_REQUEST,
                        RdmapControl.SEND,
                        RdmapControl.RDMA_READ_REQUEST);
        answer();
        assertThat(completed()).containsExactly(1L);
        answer();
        assertThat(completed()).containsExactly(1L, 2L);
    }

    @Test
    @Requirement({"RDMAP-6.1-02", "RDMAP-6.1-03"})
    void flushWaitsForOrdAndWorkBehindItWaitsToo() {
        for (int i = 0; i < ORD; i++) {
            stream.endpoint().read(i).with(region, 0, 10).remote(REMOTE, 0).post();
        }
        stream.endpoint()
                .write(7)
                .with(region, 0, 10)
                .remote(REMOTE, 0)
                .flushed()
                .post();
        write(8);

        assertThat(opcodesOut())
                .containsExactly(
                        RdmapControl.RDMA_READ_REQUEST, RdmapControl.RDMA_READ_REQUEST, RdmapControl.RDMA_WRITE);
        stream.input(readResponse(region.stag(), 0, pattern(10, 1)));

        assertThat(opcodesOut()).containsExactly(RdmapControl.RDMA_READ_REQUEST, RdmapControl.RDMA_WRITE);
    }

    @Test
    void invalidatingTheRegionAfterTheMessageDoesNotFailTheFlush() {
        for (int i = 0; i < ORD; i++) {
            stream.endpoint()
                    .read(i)
                    .with(stream.region(10), 0, 0)
                    .remote(REMOTE, 0)
                    .post();
        }
        stream.endpoint()
                .write(7)
                .with(region, 0, 10)
                .remote(REMOTE, 0)
                .flushed()
                .post();
        stream.output();
        region.invalidate();

        answer();
        assertThat(opcodesOut()).containsExactly(RdmapControl.RDMA_READ_REQUEST);
        answer();
        answer();

        assertThat(completed()).containsExactly(0L, 1L, 7L);
        assertThat(stream.events().states()).isEmpty();
    }

    /**
     * Tests a Write that completed when the lower layer took it. A Terminate that names the Write therefore fails the
     * flush after the Write.
     */
    @ParameterizedTest
    @CsvSource({"11 00, REMOTE_ACCESS_ERROR", "12 02, REMOTE_OPERATION_ERROR", "02 07, REMOTE_OPERATION_ERROR"})
    @Requirement("RDMAP-6.2.1-02")
    void peerThatRefusesAnEarlierWriteFailsTheFlushWithItsError(String error, CqeStatus status) {
        write(1);
        stream.endpoint().flush(2).post();
        stream.endpoint().send(3).post();
        Segment refused = stream.output().getFirst();
        stream.wire().transferAll();

        stream.input(terminate(join(hex(error, "C0 00"), hex("%04x".formatted(refused.length())), refused.header())));

        assertThat(completed()).containsExactly(1L, 2L, 3L);
        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS, status, CqeStatus.FLUSHED);
        assertThat(stream.completions().sends().get(1).error())
                .isEqualTo(stream.stream().error());
        assertThat(stream.stream().isUnconfirmed()).isTrue();
    }

    @Test
    void answeredFlushConfirmsEarlierDataEvenIfTheStreamIsLost() {
        assertThat(stream.stream().isUnconfirmed()).isFalse();
        write(1);
        stream.output();
        stream.wire().transferAll();
        assertThat(stream.stream().isUnconfirmed()).isTrue();
        stream.endpoint().flush(2).post();
        stream.output();
        assertThat(stream.stream().isUnconfirmed()).isTrue();
        answer();
        assertThat(stream.stream().isUnconfirmed()).isFalse();

        stream.wire().over(false, "reset by the peer");

        assertThat(stream.stream().isUnconfirmed()).isFalse();
    }

    @Test
    void readConfirmsOnlyEarlierWrites() {
        write(1);
        stream.endpoint().read(2).with(region, 0, 10).remote(REMOTE, 0).post();
        write(3);
        stream.output();
        stream.wire().transferAll();

        stream.input(readResponse(region.stag(), 0, pattern(10, 1)));

        assertThat(stream.stream().isUnconfirmed()).isTrue();
        stream.endpoint().flush(4).post();
        stream.output();
        answer();
        assertThat(stream.stream().isUnconfirmed()).isFalse();
    }

    @Test
    void unstartedWorkIsUnconfirmed() {
        stream.wire().room(0);
        write(1);

        stream.wire().over(false, "reset by the peer");

        assertThat(stream.stream().isUnconfirmed()).isTrue();
        assertThat(stream.stream().error().isConnectionLost()).isTrue();
    }

    @Test
    void completeGracefulCloseConfirmsEverything() {
        write(1);
        stream.output();
        stream.wire().transferAll();
        stream.stream().close();
        stream.output();

        stream.wire().peerClosed();
        stream.wire().over(true, "closed");

        assertThat(stream.events().states()).containsExactly(StreamState.CLOSING, StreamState.CLOSED);
        assertThat(stream.stream().isUnconfirmed()).isFalse();
    }

    @Test
    void errorNamesAnUnalignedAtomicOperationIfThePeerGivesNoReason() {
        stream.endpoint().fetchAdd(1, 1).remote(REMOTE, 0x14).post();
        Segment request = stream.onlyOutput();

        stream.input(terminate(join(hex("02 07 C0 00"), hex("%04x".formatted(request.length())), request.header())));

        assertThat(stream.stream().error().detail()).startsWith("tagged offset 0x14 of the atomic operation is not");
    }

    @Test
    void errorNamesReadsBeyondThePeersIrdIfThePeerGivesNoReason() {
        stream.endpoint().read(1).with(region, 0, 10).remote(REMOTE, 0).post();
        stream.endpoint().read(2).with(region, 0, 10).remote(REMOTE, 0).post();
        Segment second = stream.output().get(1);

        stream.input(terminate(join(hex("02 07 C0 00"), hex("%04x".formatted(second.length())), second.header())));

        assertThat(stream.stream().error().detail()).startsWith("2 Reads and atomic operations were outstanding");
        assertThat(stream.completions().sendStatuses())
                .containsExactly(CqeStatus.FLUSHED, CqeStatus.REMOTE_OPERATION_ERROR);
    }

    @Test
    void flaggedFlushSendsOneReadRequest() {
        stream.endpoint().flush(1).flushed().post();

        assertThat(opcodesOut()).containsExactly(RdmapControl.RDMA_READ_REQUEST);
        answer();

        assertThat(completed()).containsExactly(1L);
        assertThat(stream.endpoint().sendQueue().outstanding()).isZero();
    }
}
