// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.receive;
import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.sge;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.Collections;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Completions of initial receives, whatever becomes of the Queue calls that claim them. */
class QueueClaimTest extends TwoSidecars {

    private static final int SIZE = 64;
    private static final int WINDOW = 16 << 10;
    /** Refused work whose completions are far more than the transport takes for a client that does not read. */
    private static final int REFUSED = 1000;

    private Region target;
    private TestSession.Pair pair;

    @BeforeEach
    void connect() {
        target = server.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        pair = client.connectTo(server, initial(8), initial(9));
    }

    private ReceiveWork initial(long id) {
        return ReceiveWork.newBuilder().setId(id).addLocal(sge(target, 0, 16)).build();
    }

    @Test
    void aCallThatIsRefusedTakesNoCompletionsAlong() {
        deliver(2);
        QueueRequest malformed = TestQueue.open(
                        server.token(), 1, List.of(pair.there().getId()))
                .toBuilder()
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                QueueRequest.POST_FIELD_NUMBER,
                                UnknownFieldSet.Field.newBuilder()
                                        .addLengthDelimited(ByteString.copyFrom(
                                                new byte[] {QueuePost.WORK_FIELD_NUMBER << 3 | 2, 100}))
                                        .build())
                        .build())
                .build();

        TestQueue failing = new TestQueue(server.channel(), malformed, Integer.MAX_VALUE);

        assertThat(Status.fromThrowable(Waiting.join(failing.failed())).getCode())
                .isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(failing.isEmpty()).isTrue();
        try (TestQueue next = server.queue(1, pair.there().getId())) {
            next.credits();
            assertThat(next.next(2)).extracting(WorkCompletion::getId).containsExactly(8L, 9L);
        }
    }

    @Test
    void moreWorkThanCreditsDoesNotKeepCompletionsOfInitialReceivesBack() {
        WorkRequest work = receive(1, pair.there().getId(), target, 0, 16).build();

        try (TestQueue queue = server.queue(1, pair.there().getId())) {
            assertThat(queue.credits()).isOne();
            queue.post(work, work);
            deliver(2);
            assertThat(queue.next(2)).extracting(WorkCompletion::getId).containsExactly(8L, 9L);
        }
    }

    @Test
    void aCallerThatLeavesWithoutReadingTakesNoCompletionsAlong() {
        ManagedChannel channel = right.channel(WINDOW);
        try {
            WorkRequest unknown = WorkRequest.newBuilder().setConnection(4711).build();
            TestQueue leaving = new TestQueue(
                    channel,
                    TestQueue.open(server.token(), REFUSED, List.of(pair.there().getId())),
                    2);
            leaving.credits();
            leaving.post(Collections.nCopies(REFUSED, unknown));
            leaving.next();
            deliver(2);

            leaving.close();

            // Refused while the call that leaves has the claim.
            ReceiveRequest receive = ReceiveRequest.newBuilder()
                    .setSession(server.token())
                    .setConnection(pair.there().getId())
                    .build();
            for (long id = 8; id <= 9; id++) {
                assertThat(Awaitility.await()
                                .ignoreExceptions()
                                .until(
                                        () -> server.transfer()
                                                .receive(receive)
                                                .getCompletion()
                                                .getId(),
                                        received -> true))
                        .isEqualTo(id);
            }
        } finally {
            TestSidecar.close(channel);
        }
    }

    @Test
    void whatACallWasSentTheNextOneIsNotSentAgain() {
        deliver(1);
        TestQueue first = server.queue(1, pair.there().getId());
        first.credits();
        assertThat(first.next().getId()).isEqualTo(8);
        first.halfClose();
        Waiting.join(first.completed());
        deliver(1);

        try (TestQueue second = server.queue(1, pair.there().getId())) {
            second.credits();
            assertThat(second.next().getId()).isEqualTo(9);
        }
    }

    /** Sends messages, which are in the server's receives on return. */
    private void deliver(int messages) {
        long before = delivered();
        Region source = client.managed(SIZE);
        try (TestQueue sender = client.queue(messages)) {
            sender.credits();
            for (int i = 0; i < messages; i++) {
                sender.post(send(i, pair.here().getId(), source, 10).build());
            }
            sender.next(messages);
        }
        Awaitility.await().until(() -> delivered() == before + messages);
    }

    private long delivered() {
        return server.listConnections().stream()
                .mapToLong(connection -> connection.getCounters().getSendsReceived())
                .sum();
    }
}
