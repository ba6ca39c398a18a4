// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.testing.Endpoint;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.RecordingSink.Completion;
import io.sidewarp.engine.testing.StreamPair;
import io.sidewarp.engine.testing.WireLink;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.RdmapError;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests threads that post while the event loop runs, and while the stream ends. */
class PostingThreadsTest {

    private static final int POSTERS = 3;
    private static final int DEPTH = 32;
    private static final int BEFORE_THE_END = 2_000;

    /** Ways in which the stream ends while threads post. */
    enum End {
        LOSS,
        LOCAL_ERROR,
        REMOTE_ERROR,
        ABORT;

        void happen(StreamPair pair) {
            switch (this) {
                case LOSS -> pair.link().lose("reset");
                case LOCAL_ERROR -> pair.left().stream().fail(RdmapError.CATASTROPHIC_GLOBAL);
                case REMOTE_ERROR -> pair.right().stream().fail(RdmapError.CATASTROPHIC_GLOBAL);
                case ABORT -> pair.left().stream().abort();
            }
        }
    }

    private final AtomicBoolean doorbell = new AtomicBoolean();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicInteger accepted = new AtomicInteger();

    /** Posts zero-length Writes until {@link #stop} is set. The ids of each poster ascend. */
    private void postUntilStopped(WqeQueue queue, int poster) {
        Wr request = new Wr();
        for (long i = 0; !stop.get(); i++) {
            long sequence = queue.claim();
            while (sequence < 0) {
                if (stop.get()) {
                    return;
                }
                Thread.onSpinWait();
                sequence = queue.claim();
            }
            queue.slot(sequence).set(request.reset((long) poster << 32 | i, WrOpcode.RDMA_WRITE));
            queue.publish(sequence);
            accepted.incrementAndGet();
            doorbell.set(true);
        }
    }

    private void turn(StreamPair pair) {
        if (doorbell.getAndSet(false)) {
            pair.left().stream().onWorkPosted();
        }
        pair.link().turn(Side.LEFT);
        pair.link().turn(Side.RIGHT);
    }

    @ParameterizedTest
    @EnumSource(End.class)
    @Timeout(60)
    @Requirement({"RDMAP-3.2-02", "RDMAP-5.4-03", "RDMAP-5.5-15", "DDP-6.2.2-02"})
    void everyRequestThatWasTakenCompletesOnceAndInOrder(End end) throws InterruptedException {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(end.ordinal());
        EndpointOptions options = EndpointOptions.defaults().queueDepth(DEPTH);
        try (StreamPair pair = new StreamPair(WireLink::connect, options, options)) {
            pair.link().shake(random);
            Endpoint left = pair.left();
            List<Thread> posters = new ArrayList<>();
            for (int i = 0; i < POSTERS; i++) {
                int poster = i;
                posters.add(Thread.ofPlatform().start(() -> postUntilStopped(left.sendQueue(), poster)));
            }
            while (left.completions().sends().size() < BEFORE_THE_END) {
                turn(pair);
            }

            end.happen(pair);
            int atTheEnd = left.completions().sends().size();
            while (left.completions().sends().size() < atTheEnd + 10 * DEPTH) {
                turn(pair);
            }
            stop.set(true);
            for (Thread poster : posters) {
                poster.join();
            }
            doorbell.set(true);
            for (int i = 0; i < Link.MOST_TURNS && left.stream().state() != StreamState.CLOSED; i++) {
                turn(pair);
            }
            left.stream().onWorkPosted();

            assertThat(left.stream().state()).isEqualTo(StreamState.CLOSED);
            assertThat(left.completions().sends()).hasSize(accepted.get());
            assertThat(left.sendQueue().outstanding()).isZero();
            assertInOrder(left.completions().sends());
        }
    }

    private static void assertInOrder(List<Completion> completions) {
        long[] next = new long[POSTERS];
        boolean failed = false;
        for (Completion completion : completions) {
            int poster = (int) (completion.id() >>> 32);
            assertThat((int) completion.id()).isEqualTo((int) next[poster]++);
            assertThat(failed && completion.status() == CqeStatus.SUCCESS)
                    .as("success after a failure")
                    .isFalse();
            failed |= completion.status() != CqeStatus.SUCCESS;
        }
        assertThat(failed).isTrue();
    }
}
