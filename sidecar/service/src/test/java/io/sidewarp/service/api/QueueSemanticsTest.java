// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.send;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.Status;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** Tests the semantics of a work queue over the Queue call. */
class QueueSemanticsTest extends QueueSemanticsSuite {

    @Override
    TestQueue open(TestSession session, int credits) {
        TestQueue queue = new TestQueue(session.channel(), session.token(), credits);
        assertThat(queue.credits()).isEqualTo(credits);
        return queue;
    }

    private static void assertRefusedWithAdviceToSignal(WorkCompletion completion) {
        assertThat(completion.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST);
        assertThat(completion.getMessage()).contains("last credit").contains("unsignaled = false");
    }

    @Test
    void aHalfCloseEndsTheQueueWhenWorkBeyondTheCreditsIsCompleteToo() {
        TestQueue queue = open(client, 2);
        queue.post(Collections.nCopies(50, write(1).build()));
        queue.halfClose();

        assertSucceeded(queue.next(50));
        Waiting.join(queue.completed());
    }

    @Test
    void unsignaledWorkThatWouldTakeTheLastCreditIsRefused() {
        try (TestQueue queue = open(client, 4)) {
            queue.post(Collections.nCopies(3, silent(1, connection)));
            queue.post(silent(2, connection));

            WorkCompletion refused = queue.next();
            assertThat(refused.getId()).isEqualTo(2);
            assertRefusedWithAdviceToSignal(refused);
            queue.post(write(3).build());
            assertSucceeded(queue.next(1));
            queue.post(Collections.nCopies(3, silent(1, connection)));
            queue.post(write(4).build());
            assertThat(queue.next().getId()).isEqualTo(4);
        }
    }

    @Test
    void theOnlyCreditIsNotForUnsignaledWork() {
        try (TestQueue queue = open(client, 1)) {
            queue.post(silent(1, connection));

            assertRefusedWithAdviceToSignal(queue.next());
        }
    }

    @Test
    void unsignaledWorkMayNotTakeTheLastCreditBesideAReceive() {
        try (TestQueue queue = open(server, 3);
                TestQueue sender = open(client, 2)) {
            sender.post(write(1).build());
            queue.post(inboxReceive(1));
            Region outbox = server.managed(SIZE);
            Region there = client.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
            WorkRequest answer = Works.write(2, accepted, outbox, there, 8)
                    .setUnsignaled(true)
                    .build();
            queue.post(answer, answer);

            // The peer may wait for this side before it sends, so the receive may not complete.
            assertThat(queue.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST);
            sender.post(send(2, connection, source, 8).build());
            WorkCompletion received = queue.next();
            assertThat(received.getId()).isEqualTo(1);
            assertThat(received.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
        }
    }

    @Test
    void aCompletionOfOneConnectionDoesNotBringCreditsOfAnotherBack() {
        long other = client.connectTo(server).here().getId();
        try (TestQueue queue = open(client, 4)) {
            queue.post(silent(1, connection), silent(2, connection), silent(3, other));
            queue.post(write(4, other).build());
            assertThat(queue.next().getId()).isEqualTo(4);

            queue.post(silent(5, other), silent(6, other));

            WorkCompletion refused = queue.next();
            assertThat(refused.getId()).isEqualTo(6);
            assertRefusedWithAdviceToSignal(refused);
        }
    }

    @Test
    void aRequestAboveTheLimitEndsTheCallWithTheLimit() {
        try (TestQueue queue = open(client, 1)) {
            queue.send(QueueRequest.newBuilder()
                    .setUnknownFields(UnknownFieldSet.newBuilder()
                            .addField(
                                    1000,
                                    UnknownFieldSet.Field.newBuilder()
                                            .addLengthDelimited(ByteString.copyFrom(new byte[256 << 10]))
                                            .build())
                            .build())
                    .build());

            Status status = Status.fromThrowable(Waiting.join(queue.failed()));
            assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(status.getDescription()).contains("at most 262144").contains("split it");
        }
    }
}
