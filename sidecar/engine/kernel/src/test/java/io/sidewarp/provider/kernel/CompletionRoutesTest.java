// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class CompletionRoutesTest {

    private static final long SHARED = 9;
    private static final int QP_NUMBER = 1234;
    private static final long OCTETS = 100;

    @AutoClose
    private final Arena arena = Arena.ofShared();

    private final List<Long> workIds = new ArrayList<>();
    private final List<Cqe> delivered = new ArrayList<>();
    private final Wr request = new Wr();
    private final CompletionRoutes routes = new CompletionRoutes();
    private final DeviceWorkQueue shared = postedWork(CompletionRoutes.receiveTag(SHARED));

    private final CompletionRoutes.Outlet outlet = new CompletionRoutes.Outlet() {

        private final Cqe scratch = new Cqe();

        @Override
        public Cqe scratch() {
            return scratch;
        }

        @Override
        public void deliver() {
            Cqe copy = new Cqe();
            copy.set(scratch);
            delivered.add(copy);
        }
    };

    /** A queue pair with work that the test completes. */
    private final class Pair implements CompletionRoutes.Owner {

        private final long number;
        private final DeviceWorkQueue sends;
        private final DeviceWorkQueue receives;
        private final WorkCounters counters = new WorkCounters();

        Pair(long number) {
            this.number = number;
            this.sends = postedWork(CompletionRoutes.sendTag(number));
            this.receives = postedWork(CompletionRoutes.receiveTag(number));
        }

        @Override
        public long number() {
            return number;
        }

        @Override
        public DeviceWorkQueue sends() {
            return sends;
        }

        @Override
        public DeviceWorkQueue receives() {
            return receives;
        }

        @Override
        public WorkCounters work() {
            return counters;
        }

        @Override
        public boolean isGone() {
            return false;
        }
    }

    private DeviceWorkQueue postedWork(long tag) {
        return new DeviceWorkQueue(arena, tag, 4, 1, (wr, failed) -> {
            workIds.add(Native.getLong(wr + VerbsLayout.WR_ID));
            return 0;
        });
    }

    private void post(DeviceWorkQueue work, long id, WrOpcode opcode) {
        assertThat(work.post(request.reset(id, opcode))).isEqualTo(PostResult.POSTED);
    }

    private void complete(int post) {
        routes.complete(
                workIds.get(post), QP_NUMBER, CqeStatus.SUCCESS, OCTETS, DeviceWorkQueue.NOT_INVALIDATED, outlet);
    }

    private void assertDelivered(long id, long queuePair) {
        assertThat(delivered)
                .singleElement()
                .returns(id, Cqe::id)
                .returns(queuePair, Cqe::queuePair)
                .returns(CqeStatus.SUCCESS, Cqe::status)
                .returns(OCTETS, Cqe::length);
    }

    @Test
    void sharedReceiveIsToldAfterItsQueuePairHasEnded() {
        Pair pair = new Pair(5);
        routes.addShared(SHARED, shared);
        routes.add(pair, QP_NUMBER);
        post(shared, 77, WrOpcode.RECEIVE);

        routes.end(pair);
        complete(0);

        assertDelivered(77, 5);
        assertThat(shared.outstanding()).isZero();
    }

    @Test
    void sharedReceiveIsToldWhenTheDeviceHasNoQueuePairOfItAnyMore() {
        Pair pair = new Pair(5);
        routes.addShared(SHARED, shared);
        routes.add(pair, QP_NUMBER);
        post(shared, 77, WrOpcode.RECEIVE);

        routes.end(pair);
        routes.remove(pair, QP_NUMBER);
        complete(0);

        assertDelivered(77, CompletionRoutes.GONE);
        assertThat(shared.outstanding()).isZero();
    }

    @Test
    void numberThatTheDeviceGivesAgainIsTheNewQueuePairs() {
        Pair before = new Pair(5);
        routes.addShared(SHARED, shared);
        routes.add(before, QP_NUMBER);
        post(shared, 77, WrOpcode.RECEIVE);

        routes.end(before);
        routes.add(new Pair(6), QP_NUMBER);
        routes.remove(before, QP_NUMBER);
        complete(0);

        assertDelivered(77, 6);
    }

    @Test
    void workOfAnUnknownQueuePairIsNotTold() {
        post(new Pair(5).receives, 1, WrOpcode.RECEIVE);

        complete(0);

        assertThat(delivered).isEmpty();
    }
}
