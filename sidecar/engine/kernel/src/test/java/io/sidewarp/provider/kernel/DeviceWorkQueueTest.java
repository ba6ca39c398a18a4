// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.linux.LinuxErrno;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.DeviceRegions;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeviceWorkQueueTest {

    private static final long TAG = 5L << 32;
    private static final long QUEUE_PAIR = 5;

    private final Arena arena = Arena.ofShared();
    private final Wr request = new Wr();
    private final Cqe completion = new Cqe();
    private final List<Long> workIds = new ArrayList<>();
    /** Requests of the device behind others in the same call. */
    private final List<Long> chained = new ArrayList<>();

    private int refusal;
    private boolean refusesChained;
    private final DeviceWorkQueue work = new DeviceWorkQueue(arena, TAG, 3, 2, this::post);

    @BeforeEach
    void nameFlushSink() {
        work.setFlushSink(0xABCD_0000L, 0x77);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private int post(long wr, long failed) {
        if (refusal != 0) {
            return refusal;
        }
        workIds.add(Native.getLong(wr + VerbsLayout.WR_ID));
        long next = Native.getLong(wr + VerbsLayout.WR_NEXT);
        if (next == 0) {
            return 0;
        }
        if (refusesChained) {
            Native.MEMORY.set(Native.LONG, failed, next);
            return 22;
        }
        chained.add(Native.getLong(next + VerbsLayout.WR_ID));
        return 0;
    }

    private void flush(long id) {
        assertThat(work.post(request.reset(id, WrOpcode.FLUSH))).isEqualTo(PostResult.POSTED);
    }

    private void flushedWrite(long id) {
        assertThat(work.post(request.reset(id, WrOpcode.RDMA_WRITE).flush(true)))
                .isEqualTo(PostResult.POSTED);
    }

    private void completeFlushOf(int pair, CqeStatus status) {
        work.complete((int) (chained.get(pair) - TAG), status, 0, DeviceWorkQueue.NOT_INVALIDATED);
    }

    private void assertTold(long id, WrOpcode opcode, CqeStatus status) {
        assertThat(next()).isEqualTo(id);
        assertThat(completion.opcode()).isEqualTo(opcode);
        assertThat(completion.status()).isEqualTo(status);
    }

    private void write(long id, boolean signaled) {
        assertThat(work.post(request.reset(id, WrOpcode.RDMA_WRITE).signaled(signaled)))
                .isEqualTo(PostResult.POSTED);
    }

    private void complete(int post, CqeStatus status) {
        work.complete(slot(post), status, 0, DeviceWorkQueue.NOT_INVALIDATED);
    }

    private int slot(int post) {
        return (int) (workIds.get(post) - TAG);
    }

    private long next() {
        return work.next(QUEUE_PAIR, completion) ? completion.id() : -1;
    }

    @Test
    void tellsInTheOrderInWhichWorkWasPosted() {
        write(11, true);
        write(12, true);
        complete(1, CqeStatus.SUCCESS);
        assertThat(next()).isEqualTo(-1);

        complete(0, CqeStatus.SUCCESS);
        assertThat(next()).isEqualTo(11);
        assertThat(completion.queuePair()).isEqualTo(QUEUE_PAIR);
        assertThat(next()).isEqualTo(12);
        assertThat(next()).isEqualTo(-1);
        assertThat(work.outstanding()).isZero();
    }

    @Test
    void takesNoMoreThanItHasRoomForUntilItHasTold() {
        for (int id = 0; id < 3; id++) {
            write(id, true);
        }
        assertThat(work.post(request.reset(3, WrOpcode.SEND))).isEqualTo(PostResult.QUEUE_FULL);

        complete(1, CqeStatus.SUCCESS);
        assertThat(work.post(request.reset(3, WrOpcode.SEND))).isEqualTo(PostResult.QUEUE_FULL);
        complete(0, CqeStatus.SUCCESS);
        assertThat(next()).isZero();
        assertThat(work.post(request.reset(3, WrOpcode.SEND))).isEqualTo(PostResult.POSTED);
    }

    @Test
    void tellsOfUnsignaledWorkOnlyWhenItFailed() {
        write(1, false);
        write(2, false);
        write(3, true);
        complete(0, CqeStatus.SUCCESS);
        complete(1, CqeStatus.LOCAL_PROTECTION_ERROR);
        complete(2, CqeStatus.FLUSHED);

        assertThat(next()).isEqualTo(2);
        assertThat(completion.status()).isEqualTo(CqeStatus.LOCAL_PROTECTION_ERROR);
        assertThat(next()).isEqualTo(3);
    }

    @Test
    void flushesWhatTheDeviceDidNotComplete() {
        write(1, true);
        write(2, true);
        complete(1, CqeStatus.SUCCESS);

        work.flush();

        assertThat(next()).isEqualTo(1);
        assertThat(completion.status()).isEqualTo(CqeStatus.FLUSHED);
        assertThat(next()).isEqualTo(2);
        assertThat(completion.status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(next()).isEqualTo(-1);
    }

    @Test
    void forgetsWhatTheDeviceRefuses() {
        refusal = LinuxErrno.ENOMEM;
        assertThat(work.post(request.reset(1, WrOpcode.SEND))).isEqualTo(PostResult.QUEUE_FULL);
        refusal = 22;
        assertThat(work.post(request.reset(2, WrOpcode.SEND))).isEqualTo(PostResult.INVALID_REQUEST);
        refusal = 0;

        write(3, true);
        complete(0, CqeStatus.SUCCESS);

        assertThat(next()).isEqualTo(3);
        assertThat(work.outstanding()).isZero();
    }

    @Test
    void slotsOfASharedQueueAreFreeInAnyOrder() {
        for (int id = 0; id < 3; id++) {
            assertThat(work.post(request.reset(id, WrOpcode.RECEIVE))).isEqualTo(PostResult.POSTED);
        }
        work.complete(slot(2), CqeStatus.SUCCESS, 100, 0xFFFF_FFFFL);

        assertThat(work.take(slot(2), QUEUE_PAIR, completion)).isTrue();
        assertThat(completion.id()).isEqualTo(2);
        assertThat(completion.length()).isEqualTo(100);
        assertThat(completion.isInvalidated()).isTrue();
        assertThat(completion.invalidatedStag()).isEqualTo(-1);
        assertThat(work.post(request.reset(3, WrOpcode.RECEIVE))).isEqualTo(PostResult.POSTED);
        assertThat(workIds.get(3)).isEqualTo(workIds.get(2));
    }

    @Test
    void flushIsReadOfNoBytesWithValidKey() {
        MemorySegment[] seen = new MemorySegment[1];
        DeviceWorkQueue queue = new DeviceWorkQueue(arena, TAG, 1, 2, (wr, failed) -> {
            seen[0] = Native.MEMORY.asSlice(wr, VerbsLayout.SEND_WR_LENGTH);
            return 0;
        });
        queue.setFlushSink(0xABCD_0000L, 0x77);

        queue.post(request.reset(9, WrOpcode.FLUSH).fence(true));

        assertFlush(seen[0]);
    }

    @Test
    void flaggedDataIsFollowedByReadOfNoBytes() {
        MemorySegment[] seen = new MemorySegment[1];
        DeviceWorkQueue queue = new DeviceWorkQueue(arena, TAG, 1, 2, (wr, failed) -> {
            seen[0] = Native.MEMORY.asSlice(wr, VerbsLayout.SEND_WR_LENGTH);
            return 0;
        });
        queue.setFlushSink(0xABCD_0000L, 0x77);

        queue.post(request.reset(9, WrOpcode.SEND).fence(true).solicited(true).flush(true));

        MemorySegment data = seen[0];
        assertThat(data.get(Native.INT, VerbsLayout.WR_OPCODE)).isEqualTo(VerbsLayout.WR_SEND);
        assertThat(data.get(Native.INT, VerbsLayout.WR_SEND_FLAGS))
                .isEqualTo(VerbsLayout.SEND_FENCE | VerbsLayout.SEND_SOLICITED);
        long second = data.get(Native.LONG, VerbsLayout.WR_NEXT);
        assertFlush(Native.MEMORY.asSlice(second, VerbsLayout.SEND_WR_LENGTH));
    }

    private static void assertFlush(MemorySegment wr) {
        assertThat(wr.get(Native.INT, VerbsLayout.WR_OPCODE)).isEqualTo(VerbsLayout.WR_RDMA_READ);
        assertThat(wr.get(Native.INT, VerbsLayout.WR_SEND_FLAGS)).isEqualTo(VerbsLayout.SEND_SIGNALED);
        assertThat(wr.get(Native.INT, VerbsLayout.WR_RKEY)).isEqualTo(1);
        assertThat(wr.get(Native.LONG, VerbsLayout.WR_REMOTE_ADDR)).isZero();
        assertThat(wr.get(Native.LONG, VerbsLayout.WR_NEXT)).isZero();
        assertThat(wr.get(Native.INT, VerbsLayout.WR_NUM_SGE)).isEqualTo(1);
        long element = wr.get(Native.LONG, VerbsLayout.WR_SG_LIST);
        assertThat(Native.getLong(element + VerbsLayout.SGE_ADDR)).isEqualTo(0xABCD_0000L);
        assertThat(Native.getInt(element + VerbsLayout.SGE_OCTETS)).isZero();
        assertThat(Native.getInt(element + VerbsLayout.SGE_LKEY)).isEqualTo(0x77);
    }

    @Test
    void readWithFlushIsOneElement() {
        assertThat(work.post(request.reset(1, WrOpcode.RDMA_READ).flush(true))).isEqualTo(PostResult.POSTED);

        assertThat(chained).isEmpty();
        complete(0, CqeStatus.SUCCESS);
        assertTold(1, WrOpcode.RDMA_READ, CqeStatus.SUCCESS);
    }

    @Test
    void flaggedDataCompletesOnceWithItsFlush() {
        flushedWrite(1);
        write(2, true);
        complete(1, CqeStatus.SUCCESS);
        assertThat(next()).isEqualTo(-1);

        completeFlushOf(0, CqeStatus.SUCCESS);

        assertTold(1, WrOpcode.RDMA_WRITE, CqeStatus.SUCCESS);
        assertTold(2, WrOpcode.RDMA_WRITE, CqeStatus.SUCCESS);
        assertThat(next()).isEqualTo(-1);
        assertThat(work.outstanding()).isZero();
    }

    @Test
    void dataThatFailsTellsItsStatusWhenItsFlushIsOver() {
        flushedWrite(1);
        complete(0, CqeStatus.LOCAL_PROTECTION_ERROR);
        assertThat(next()).isEqualTo(-1);

        completeFlushOf(0, CqeStatus.FLUSHED);

        assertTold(1, WrOpcode.RDMA_WRITE, CqeStatus.LOCAL_PROTECTION_ERROR);
        assertThat(next()).isEqualTo(-1);
    }

    @Test
    void flushThatFailsTellsItsStatusForTheData() {
        flushedWrite(1);

        completeFlushOf(0, CqeStatus.REMOTE_ACCESS_ERROR);

        assertTold(1, WrOpcode.RDMA_WRITE, CqeStatus.REMOTE_ACCESS_ERROR);
        assertThat(completion.length()).isZero();
        assertThat(work.hasFailed()).isTrue();
        assertThat(work.isUnconfirmed()).isTrue();
    }

    @Test
    void slotForgetsTheFailureOfItsFormerData() {
        flushedWrite(1);
        complete(0, CqeStatus.LOCAL_PROTECTION_ERROR);
        work.flush();
        assertTold(1, WrOpcode.RDMA_WRITE, CqeStatus.LOCAL_PROTECTION_ERROR);

        flushedWrite(2);
        completeFlushOf(1, CqeStatus.SUCCESS);

        assertTold(2, WrOpcode.RDMA_WRITE, CqeStatus.SUCCESS);
    }

    @Test
    void flaggedDataTakesOneSlotOfItsCaller() {
        for (int id = 0; id < 3; id++) {
            flushedWrite(id);
        }

        assertThat(work.post(request.reset(3, WrOpcode.RDMA_WRITE).flush(true))).isEqualTo(PostResult.QUEUE_FULL);
        assertThat(chained).hasSize(3);
    }

    @Test
    void flaggedDataWithoutItsFlushCompletesWhenTheQueuePairEnds() {
        refusesChained = true;
        flushedWrite(1);
        assertThat(work.outstanding()).isEqualTo(1);

        work.flush();

        assertTold(1, WrOpcode.RDMA_WRITE, CqeStatus.FLUSHED);
        assertThat(work.outstanding()).isZero();
    }

    @Test
    void flaggedDataThatIsRefusedIsForgotten() {
        refusal = 22;

        assertThat(work.post(request.reset(1, WrOpcode.SEND).flush(true))).isEqualTo(PostResult.INVALID_REQUEST);

        assertThat(work.outstanding()).isZero();
        assertThat(work.isUnconfirmed()).isFalse();
    }

    @Test
    void flushConfirmsDataBeforeIt() {
        assertThat(work.isUnconfirmed()).isFalse();
        write(1, true);
        complete(0, CqeStatus.SUCCESS);
        assertThat(work.isUnconfirmed()).isTrue();
        flush(2);
        assertThat(work.isUnconfirmed()).isTrue();

        complete(1, CqeStatus.SUCCESS);

        assertThat(work.isUnconfirmed()).isFalse();
        assertThat(work.hasFailed()).isFalse();
    }

    @Test
    void readConfirmsNoDataBehindIt() {
        write(1, true);
        assertThat(work.post(request.reset(2, WrOpcode.RDMA_READ))).isEqualTo(PostResult.POSTED);
        flushedWrite(3);

        complete(1, CqeStatus.SUCCESS);
        assertThat(work.isUnconfirmed()).isTrue();
        completeFlushOf(0, CqeStatus.SUCCESS);
        assertThat(work.isUnconfirmed()).isFalse();
    }

    @Test
    void confirmationTellsNobody() {
        write(1, true);
        complete(0, CqeStatus.SUCCESS);
        assertThat(next()).isEqualTo(1);

        assertThat(work.confirm()).isTrue();
        assertThat(work.outstanding()).isEqualTo(1);
        complete(1, CqeStatus.SUCCESS);

        assertThat(next()).isEqualTo(-1);
        assertThat(work.outstanding()).isZero();
        assertThat(work.isUnconfirmed()).isFalse();
    }

    @Test
    void confirmationThatFailsTellsNobody() {
        write(1, true);
        complete(0, CqeStatus.SUCCESS);
        assertThat(next()).isEqualTo(1);

        assertThat(work.confirm()).isTrue();
        complete(1, CqeStatus.FLUSHED);

        assertThat(next()).isEqualTo(-1);
        assertThat(work.isUnconfirmed()).isTrue();
        assertThat(work.hasFailed()).isTrue();
    }

    @Test
    void writesTheRequestAsVerbsHaveIt() {
        DeviceRegions regions = new DeviceRegions();
        MemoryRegion region = regions.register(
                new Pd(1),
                ManagedBacking.allocate(64),
                Set.of(AccessRight.LOCAL_WRITE),
                memory -> registration(0x1234));
        MemorySegment[] seen = new MemorySegment[1];
        DeviceWorkQueue queue = new DeviceWorkQueue(arena, TAG, 1, 2, (wr, failed) -> {
            seen[0] = Native.MEMORY.asSlice(wr, VerbsLayout.SEND_WR_LENGTH);
            return 0;
        });

        queue.post(request.reset(9, WrOpcode.RDMA_READ)
                .addSge(region, 8, 24)
                .remote(0x55, 0x1_0000_0000L)
                .fence(true)
                .solicited(true));

        MemorySegment wr = seen[0];
        assertThat(wr.get(Native.INT, VerbsLayout.WR_OPCODE)).isEqualTo(VerbsLayout.WR_RDMA_READ);
        assertThat(wr.get(Native.INT, VerbsLayout.WR_SEND_FLAGS))
                .isEqualTo(VerbsLayout.SEND_SIGNALED | VerbsLayout.SEND_FENCE | VerbsLayout.SEND_SOLICITED);
        assertThat(wr.get(Native.INT, VerbsLayout.WR_RKEY)).isEqualTo(0x55);
        assertThat(wr.get(Native.LONG, VerbsLayout.WR_REMOTE_ADDR)).isEqualTo(0x1_0000_0000L);
        assertThat(wr.get(Native.INT, VerbsLayout.WR_NUM_SGE)).isEqualTo(1);
        long element = wr.get(Native.LONG, VerbsLayout.WR_SG_LIST);
        assertThat(Native.getLong(element + VerbsLayout.SGE_ADDR))
                .isEqualTo(region.segment().address() + 8);
        assertThat(Native.getInt(element + VerbsLayout.SGE_OCTETS)).isEqualTo(24);
        assertThat(Native.getInt(element + VerbsLayout.SGE_LKEY)).isEqualTo(0x1234);
    }

    private static DeviceRegions.Registration registration(int stag) {
        return new DeviceRegions.Registration() {

            @Override
            public int stag() {
                return stag;
            }

            @Override
            public long baseTaggedOffset() {
                return 0;
            }

            @Override
            public void revoke() {
                // There is no device.
            }
        };
    }
}
