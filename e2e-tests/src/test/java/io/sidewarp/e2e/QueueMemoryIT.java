// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.client.Access;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedReceiveQueue;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Checks that a sidecar's default heap holds all queues that the default limits permit to one user. */
@ExtendWith(Logs.class)
class QueueMemoryIT {

    private static final int LENGTH = 64;

    @Test
    void sessionsThatFillAllTheQueuesThatTheyMayHaveLeaveRoomForOthers() {
        try (SidecarProcess sidecar = SidecarProcess.start("queues");
                SidewarpClient client = sidecar.client();
                Session first = client.openSession("first");
                Session second = client.openSession("second");
                Session modest = client.openSession("modest")) {
            assertThat(fillQueues(first)).isPositive();
            assertThat(fillQueues(second)).isPositive();

            SharedRegion source = modest.createSharedRegion("source", LENGTH);
            SharedRegion target = modest.createSharedRegion("target", LENGTH, Access.REMOTE_WRITE);
            Link.connect(modest, modest).initiator().write(source.slice(), target.address());
            assertThat(sidecar.process().isAlive()).isTrue();
        }
    }

    /** Posts all receives that shared receive queues can hold, until the session may have no more of these. */
    private static int fillQueues(Session session) {
        SharedRegion target = session.createSharedRegion(session.name(), LENGTH, Access.LOCAL_WRITE);
        int queues = 0;
        while (true) {
            SharedReceiveQueue queue;
            try {
                queue = session.createSharedReceiveQueue(session.limits().maxReceiveQueue());
            } catch (SidewarpException e) {
                assertThat(e.code()).as(e.getMessage()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
                assertThat(e).hasMessageContaining("sidewarp.limits.work-entries");
                return queues;
            }
            fill(session, queue, target);
            queues++;
        }
    }

    /** With receives of as many elements as they can have. */
    private static void fill(Session session, SharedReceiveQueue queue, SharedRegion target) {
        WorkRequest receive = WorkRequest.receive(
                queue,
                Collections.nCopies(session.limits().maxSge(), target.slice(0, 1))
                        .toArray(Sge[]::new));
        // Over rings, receives leave one place to send work.
        WorkQueue work = session.openQueue(queue.capacity() + 1);
        work.batch(posting -> {
            for (int i = 0; i < queue.capacity(); i++) {
                posting.post(i, receive);
            }
        });
        Patience.await("all receives are posted").until(() -> queue.usage().receives() == queue.capacity());
    }
}
