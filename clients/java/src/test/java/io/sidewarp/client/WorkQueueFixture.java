// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeEach;

/** A connection to post work for. */
abstract class WorkQueueFixture extends FakeSidecarTest {

    static final Duration LONG = Duration.ofSeconds(20);
    static final Sge SGE = new Sge(1, 0, 8);

    Connection connection;
    WorkRequest write;

    @BeforeEach
    void connect() {
        connection = session.connect("127.0.0.1", 1);
        write = WorkRequest.write(connection, new RemoteAddress(7, 0), SGE);
    }

    static BlockingQueue<WorkCompletion> handle(WorkQueue queue) {
        BlockingQueue<WorkCompletion> completions = new LinkedBlockingQueue<>();
        queue.onCompletion(completions::add);
        return completions;
    }
}
