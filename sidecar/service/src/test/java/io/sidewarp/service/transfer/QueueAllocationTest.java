// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.management.ThreadMXBean;
import io.grpc.Status;
import io.sidewarp.engine.net.LateTask;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.WorkRequest;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * What the service itself allocates for work on a Queue call, from the octets of a request to those of its completions.
 * gRPC and the engine are played by the test, so that nothing of theirs counts.
 */
class QueueAllocationTest extends PlayedQueues {

    private static final int WARM_UP = 3_000;
    private static final int MEASURED = 1_000;
    /** Whose completions have more than 8 KiB, and less than 16. */
    private static final int UNREAD_MESSAGES = 15;

    /** Whose refusals have more than 64 KiB, and less than 128. */
    private static final int REFUSED = 1200;

    /** Objects of a message: the frame, the streams over its octets, and the nodes of this loop's queue of tasks. */
    private static final int PER_MESSAGE = 400;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void aWarmQueueAllocatesPerMessageAndNothingPerWorkRequest() throws Exception {
        byte[] message = message();

        long allocated = allocated(message);

        assertThat(engine.carriedOut()).isEqualTo((long) (WARM_UP + MEASURED) * WORK_PER_MESSAGE);
        assertThat(sent.messages).isEqualTo(1 + WARM_UP + MEASURED);
        assertThat(sent.closed).isNull();
        // The octets of a message are kept as they came; one more object per work request would be 1024 octets more.
        assertThat(allocated / MEASURED).isLessThan(message.length + PER_MESSAGE);
    }

    @Test
    void receivesOfASharedReceiveQueueAllocateNothingEither() throws Exception {
        Sge local = Sge.newBuilder().setRegion(region).setOffset(8).setLength(8).build();
        QueuePost.Builder post = QueuePost.newBuilder();
        for (int i = 0; i < WORK_PER_MESSAGE; i++) {
            post.addWork(WorkRequest.newBuilder()
                    .setId(i)
                    .setSharedReceiveQueue(SHARED_RECEIVES)
                    .setReceive(ReceiveWork.newBuilder().addLocal(local)));
        }
        byte[] message = QueueRequest.newBuilder().setPost(post).build().toByteArray();

        long allocated = allocated(message);

        assertThat(receives.carriedOut()).isEqualTo((long) (WARM_UP + MEASURED) * WORK_PER_MESSAGE);
        assertThat(sent.messages).isEqualTo(1 + WARM_UP + MEASURED);
        assertThat(sent.closed).isNull();
        assertThat(allocated / MEASURED).isLessThan(message.length + PER_MESSAGE);
    }

    @Test
    void aCallerThatDoesNotReadWhyItsWorkIsRefusedGetsNoMoreRefused() throws Exception {
        int count = 8192;
        SentMessages unread = new SentMessages();
        QueueCall refusing = call(unread, count);
        QueuePost.Builder nothing = QueuePost.newBuilder();
        for (int i = 0; i < count; i++) {
            nothing.addWork(WorkRequest.newBuilder().setId(i));
        }
        assertThat(unread.requested).isEqualTo(1);

        unread.ready = false;
        receive(refusing, QueueRequest.newBuilder().setPost(nothing).build());
        assertThat(unread.requested).as("messages asked for").isEqualTo(1);
        unread.ready = true;
        int first = onLoop(() -> {
            refusing.onReady();
            return unread.largest;
        });

        assertThat(first).isBetween(2 * 1024, 3 * 1024);
        // The rest of the message was posted behind that.
        onLoop(refusing::toString);
        assertThat(unread.completions).isEqualTo(count);
        assertThat(unread.largest).isBetween(60 * 1024, 65 * 1024);
        assertThat(unread.requested).isEqualTo(2);
        assertThat(unread.closed).isNull();
    }

    @Test
    void manyCompletionsThatAreNotReadCountUntilTheyAre() throws Exception {
        SentMessages unread = new SentMessages();
        QueueCall waiting = call(unread, UNREAD_MESSAGES * WORK_PER_MESSAGE);

        completeUnread(waiting, unread, UNREAD_MESSAGES);
        assertThat(unreadOctets.held()).isBetween(8L * 1024, 32L * 1024);
        unread.ready = true;
        waiting.onReady();
        onLoop(waiting::toString);

        assertThat(unreadOctets.held()).isZero();
        assertThat(unread.completions).isEqualTo(UNREAD_MESSAGES * WORK_PER_MESSAGE);
        assertThat(unread.closed).isNull();
    }

    @Test
    void aFewKibOfCompletionsThatWaitCountToo() throws Exception {
        SentMessages unread = new SentMessages();
        QueueCall waiting = call(unread, UNREAD_MESSAGES * WORK_PER_MESSAGE);

        completeUnread(waiting, unread, 6);

        assertThat(unreadOctets.held()).isBetween(2L * 1024, 5L * 1024);
    }

    @Test
    void aCallWithMoreUnreadCompletionsThanItMayHaveEnds() throws Exception {
        SentMessages unread = new SentMessages();
        QueueCall waiting = call(unread, UNREAD_MESSAGES * WORK_PER_MESSAGE);
        unreadOctets.limit(10_000);

        completeUnread(waiting, unread, UNREAD_MESSAGES);

        assertThat(unread.closed).isEqualTo(Status.RESOURCE_EXHAUSTED);
        // But for what went out before there was much.
        assertThat(unread.largest).isLessThan(4 * 1024);
        assertThat(unread.completions).isLessThan(5 * WORK_PER_MESSAGE);
        assertThat(unreadOctets.held()).isZero();
    }

    @Test
    void whatTheTransportHoldsCountsUntilItHasTakenAll() throws Exception {
        SentMessages held = new SentMessages();
        QueueCall refusing = call(held, REFUSED);
        held.holding = true;
        receive(refusing, nothing(REFUSED));

        assertThat(held.largest).isBetween(60 * 1024, 65 * 1024);
        assertThat(unreadOctets.held()).isBetween((long) held.largest, 70L * 1024);
        assertThat(held.completions).isLessThan(REFUSED);
        held.holding = false;
        held.ready = true;
        refusing.onReady();
        await().until(() -> onLoop(() -> held.completions) == REFUSED);
        assertThat(unreadOctets.held()).isZero();
    }

    @Test
    void aMessageThatTheTransportMayNotHoldEndsItsCallAndIsNotSent() throws Exception {
        SentMessages held = new SentMessages();
        QueueCall refusing = call(held, REFUSED);
        held.holding = true;
        unreadOctets.limit(10_000);

        receive(refusing, nothing(REFUSED));

        assertThat(held.closed).isEqualTo(Status.RESOURCE_EXHAUSTED);
        assertThat(held.completions).isZero();
        assertThat(unreadOctets.held()).isZero();
    }

    @Test
    void aFewSmallMessagesGoOutBeforeTheTransportHasTakenTheLast() throws Exception {
        SentMessages held = new SentMessages();
        QueueCall refusing = call(held, REFUSED);
        held.holding = true;
        for (int i = 0; i < 20; i++) {
            receive(refusing, nothing(1));
        }

        // Their buffers and what else gRPC has of each are 4 KiB.
        int sent = held.completions;
        assertThat(sent).isBetween(3, 8);
        assertThat(unreadOctets.held()).isZero();
        held.holding = false;
        held.ready = true;
        refusing.onReady();
        await().until(() -> onLoop(() -> held.completions) == 20);
        assertThat(held.messages).isEqualTo(1 + sent + 1);
    }

    @Test
    void aCallThatEndedGivesNothingBackThatTheTransportHolds() throws Exception {
        SentMessages held = new SentMessages();
        QueueCall refusing = call(held, REFUSED);
        held.holding = true;
        receive(refusing, nothing(REFUSED));

        refusing.onCancel();
        onLoop(refusing::toString);

        assertThat(unreadOctets.held()).isBetween((long) held.largest, held.largest + 1024L);
    }

    /** Has work carried out whose completions cannot be sent. */
    private void completeUnread(QueueCall by, SentMessages to, int messages) throws Exception {
        byte[] message = message();
        to.ready = false;
        for (int i = 0; i < messages && to.closed == null; i++) {
            onLoop(() -> {
                by.onMessage(received(message));
                engine.complete();
                return true;
            });
            await().until(() -> onLoop(() -> engine.isIdle()));
        }
    }

    /** What the loop allocates while the message comes again and again. */
    private long allocated(byte[] message) throws Exception {
        Turns turns = new Turns(message);
        loop.execute(turns);
        return turns.allocated.get(60, TimeUnit.SECONDS);
    }

    /** One message after the other, each when the completions of the one before have gone out. */
    private final class Turns implements Runnable {

        final CompletableFuture<Long> allocated = new CompletableFuture<>();
        private final LateTask next = new LateTask(loop, PolledWork.STREAM_ROUNDS + 1, this);
        private final byte[] message;
        private int turn;
        private long before;

        Turns(byte[] message) {
            this.message = message;
        }

        @Override
        public void run() {
            if (turn == WARM_UP) {
                before = THREADS.getCurrentThreadAllocatedBytes();
            } else if (turn == WARM_UP + MEASURED) {
                allocated.complete(THREADS.getCurrentThreadAllocatedBytes() - before);
                return;
            }
            turn++;
            call.onMessage(received(message));
            engine.complete();
            receives.complete();
            next.request();
        }
    }
}
