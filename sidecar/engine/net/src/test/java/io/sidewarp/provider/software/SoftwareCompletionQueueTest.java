// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.verbs.Cqe;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests the notification of a queue that several event loops add to. */
final class SoftwareCompletionQueueTest {

    private final SoftwareCompletionQueue queue = new SoftwareCompletionQueue(8, Runnable::run);
    private final AtomicInteger told = new AtomicInteger();

    /** Adds a completion in the way of an event loop, once the loop has claimed the entry. */
    private void complete(long sequence, boolean solicited) {
        queue.entry(sequence);
        queue.publish(sequence);
        queue.signal(solicited);
    }

    private int poll() {
        return queue.poll(new Cqe[] {new Cqe(), new Cqe()});
    }

    @Test
    @Requirement("RDMAP-5.3-03")
    void onlySolicitedCompletionsAreToldOfWhereNoOthersAreWanted() {
        queue.requestNotification(told::incrementAndGet, true);

        complete(queue.claim(), false);
        assertThat(told).hasValue(0);
        complete(queue.claim(), true);

        assertThat(told).hasValue(1);
        assertThat(poll()).isEqualTo(2);
    }

    @Test
    void aSolicitedCompletionBehindOneThatIsNotPublishedYetIsToldOf() {
        AtomicInteger polled = new AtomicInteger();
        queue.requestNotification(
                () -> {
                    polled.addAndGet(poll());
                    queue.requestNotification(told::incrementAndGet, true);
                },
                true);
        long slow = queue.claim();
        complete(queue.claim(), true);
        assertThat(polled).hasValue(0);
        assertThat(told).hasValue(0);

        complete(slow, false);

        assertThat(told).hasValue(1);
        assertThat(poll()).isEqualTo(2);
    }
}
