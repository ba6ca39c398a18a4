// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.concurrent.BlockingQueue;
import org.junit.jupiter.api.BeforeEach;

/** A sidecar with rings, and a connection to post work for. */
abstract class RingQueueFixture extends WorkQueueFixture {

    static final QueueOptions RINGS = QueueOptions.defaults().withPath(QueuePath.RINGS);

    WorkRequest receive;

    @BeforeEach
    void offerRings() {
        sidecar.rings.refusal = null;
        receive = WorkRequest.receive(connection, SGE);
    }

    WorkQueue open() {
        return session.openQueue(RINGS);
    }

    FakeRing ring() throws InterruptedException {
        return FakeSidecar.next(sidecar.rings.created);
    }

    static WorkCompletion next(WorkQueue queue) {
        return queue.poll(LONG).orElseThrow();
    }

    static WorkCompletion next(BlockingQueue<WorkCompletion> completions) throws InterruptedException {
        return FakeSidecar.next(completions);
    }
}
