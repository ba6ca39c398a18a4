// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class PostingAllocationTest {

    private static final int REQUESTS = 100_000;

    private final CreditTable table = new CreditTable(64);
    private final FrameQueue frames = new FrameQueue();
    private final OutputStream nowhere = OutputStream.nullOutputStream();
    private final Connection connection = TestConnections.connection(3);
    private final WorkRequest signaled =
            WorkRequest.write(connection, new RemoteAddress(9, 1L << 40), new Sge(1, 0, 64));
    private final WorkRequest unsignaled = signaled.unsignaled();

    @Test
    void warmPostingMakesNoObjects() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        post();
        long before = threads.getCurrentThreadAllocatedBytes();

        post();

        // A few octets may be the measurement's own; an object per request would be at least 16 octets each.
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(REQUESTS);
    }

    /** What a queue does for a request between post and completion, but for gRPC and the completion itself. */
    private void post() throws IOException {
        for (int i = 0; i < REQUESTS; i += 4) {
            int last = 0;
            for (int j = 0; j < 4; j++) {
                WorkRequest request = j < 3 ? unsignaled : signaled;
                last = table.take(request, i, null);
                frames.add(last, request.encoded(table.isSignaled(last)));
            }
            PostFrame frame = frames.next();
            if (frame == null) {
                throw new AssertionError("nothing to send");
            }
            frame.drainTo(nowhere);
            frames.recycle(frame);
            table.complete(last, CompletionStatus.SUCCESS);
        }
    }
}
