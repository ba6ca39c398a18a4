// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a thread that posts a receive while another thread is posting one. A posted receive must be available at once.
 */
@Timeout(60)
class PostingOrderTest {

    /** {@link WqeQueue#post} or {@link SharedReceives#post}. */
    private interface Post {

        boolean post(Long id, BiConsumer<Long, Wqe> fill);
    }

    private final CountDownLatch filling = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    private static void fill(Long id, Wqe wqe) {
        wqe.set(new Wr().reset(id, WrOpcode.RECEIVE));
    }

    private void fillSlowly(Long id, Wqe wqe) {
        filling.countDown();
        try {
            goOn.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        fill(id, wqe);
    }

    private void assertThatASecondOneIsPostedBehindAFirst(Post queue, Supplier<@Nullable Wqe> oldest)
            throws InterruptedException {
        Thread first = Thread.ofPlatform().start(() -> queue.post(1L, this::fillSlowly));
        filling.await();

        Thread second = Thread.ofPlatform().start(() -> queue.post(2L, PostingOrderTest::fill));

        Awaitility.await().until(() -> second.getState() == Thread.State.BLOCKED);
        assertThat(oldest.get()).isNull();
        goOn.countDown();
        second.join();
        assertThat(oldest.get()).extracting(Wqe::id).isEqualTo(1L);
        first.join();
    }

    @Test
    void aReceiveIsPostedBehindTheOneThatIsBeingPosted() throws InterruptedException {
        WqeQueue queue = new WqeQueue(2);

        assertThatASecondOneIsPostedBehindAFirst(queue::post, queue::oldest);

        assertThat(queue.peek(1).id()).isEqualTo(2);
        assertThat(queue.post(3L, PostingOrderTest::fill)).isFalse();
        queue.retire();
        assertThat(queue.post(3L, PostingOrderTest::fill)).isTrue();
    }

    @Test
    void aSharedReceiveIsPostedBehindTheOneThatIsBeingPosted() throws InterruptedException {
        SharedReceives receives = new SharedReceives(2);

        assertThatASecondOneIsPostedBehindAFirst(receives::post, receives::take);

        assertThat(receives.post(3L, PostingOrderTest::fill)).isFalse();
        Wqe second = receives.take();
        assertThat(second.id()).isEqualTo(2);
        receives.complete();
        receives.release(second);
        assertThat(receives.post(3L, PostingOrderTest::fill)).isTrue();
    }
}
