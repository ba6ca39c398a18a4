// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RingAllocationTest extends RingQueueFixture {

    private static final int REQUESTS = 100_000;
    private static final int OUTSTANDING = 32;

    private long taken;

    @ParameterizedTest
    @EnumSource
    void warmQueueAllocatesNoObjects(WaitStrategy strategy) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Connection other = session.connect("127.0.0.1", 2);
        WorkRequest[] requests = {
            write,
            WorkRequest.send(other, SGE, SGE, SGE).solicited(),
            WorkRequest.read(connection, new RemoteAddress(7, 0), SGE),
            WorkRequest.write(other, new RemoteAddress(9, 1L << 40), SGE).unsignaled(),
            WorkRequest.receive(other, SGE)
        };
        WorkQueue queue = session.openQueue(RINGS.withOutstanding(64).withWaitStrategy(strategy));
        CompletionTaker taker = completion -> taken += completion.isSuccess() ? 1 : 0;
        run(queue, requests, taker);
        run(queue, requests, taker);
        long before = threads.getCurrentThreadAllocatedBytes();

        run(queue, requests, taker);

        // Waiting in the kernel may allocate a few bytes. One object per request would allocate at least 16 bytes each.
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(REQUESTS);
    }

    private void run(WorkQueue queue, WorkRequest[] requests, CompletionTaker taker) {
        int signaled = REQUESTS / requests.length * (requests.length - 1);
        long outstanding = 0;
        taken = 0;
        for (int i = 0; i < REQUESTS; i++) {
            WorkRequest request = requests[i % requests.length];
            while (outstanding - taken >= OUTSTANDING || !queue.tryPost(i, request)) {
                queue.poll(taker, OUTSTANDING, LONG);
            }
            outstanding += request.isUnsignaled() ? 0 : 1;
        }
        while (taken < signaled) {
            queue.poll(taker, OUTSTANDING, LONG);
        }
    }
}
