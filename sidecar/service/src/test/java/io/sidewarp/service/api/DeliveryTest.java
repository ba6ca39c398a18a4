// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.receive;
import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ErrorAdvice;
import io.sidewarp.v1.FlushWork;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.Retry;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests the reports of flushes and queues to a program about the delivery of its data. */
class DeliveryTest extends DeliveryFixture {

    private WorkCompletion perform(WorkRequest.Builder work) {
        return client.transfer()
                .perform(PerformRequest.newBuilder()
                        .setSession(client.token())
                        .setWork(work)
                        .build())
                .getCompletion();
    }

    @Test
    void flushCompletesWhenTheWriteIsInThePeersMemory() {
        client.store(source.getId(), 0, "hello".getBytes(java.nio.charset.StandardCharsets.US_ASCII), SIZE);
        writeTo(target);

        flush();

        assertThat(server.load(target.getId(), 0, 5)).asString().isEqualTo("hello");
    }

    @Test
    void flushFailsWithThePeersErrorWhenItRefusesTheWrite() {
        writeTo(readOnly);

        StatusRuntimeException failure = Waiting.failure(this::flush);

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        RdmaError error = detail(failure, RdmaError.class).orElseThrow();
        assertThat(new int[] {error.getLayer(), error.getType(), error.getCode()})
                .containsExactly(1, 1, 0);
        assertThat(error.getRemote()).isTrue();
        assertThat(detail(failure, ErrorAdvice.class).orElseThrow().getRetry()).isEqualTo(Retry.RETRY_NEVER);
    }

    @Test
    void flushBehindTheEndOfTheConnectionFailsWithItsErrorToo() {
        writeTo(readOnly);
        awaitClosed();

        StatusRuntimeException failure = Waiting.failure(this::flush);

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(detail(failure, RdmaError.class)).isPresent();
    }

    @Test
    void peerThatRefusesNamesTheRightThatIsMissing() {
        writeTo(readOnly);

        String message = Awaitility.await()
                .until(
                        () -> server.nextEvent().getConnection(),
                        change -> change.getState() == ConnectionState.CONNECTION_STATE_TERMINATED)
                .getMessage();

        assertThat(message).contains("the region was registered without REMOTE_WRITE");
    }

    @Test
    void flushWithoutOrdFailsAtOnceAndNamesTheAlternative() {
        connection = server.connectTo(
                        client, ConnectionOptions.newBuilder().setOrd(0).build())
                .there()
                .getId();

        Status status = Waiting.status(this::flush);

        assertThat(status.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(status.getDescription()).contains("ord", "ird", "Send");
    }

    @Test
    void flaggedWriteAndFlushOfAQueueCompleteOnceAndInOrder() {
        try (TestQueue queue = client.queue(8)) {
            queue.credits();
            queue.post(
                    write(1, connection, source, target, SIZE)
                            .setWithFlush(true)
                            .build(),
                    write(2, connection, source, target, SIZE).build(),
                    WorkRequest.newBuilder()
                            .setId(3)
                            .setConnection(connection)
                            .setFlush(FlushWork.getDefaultInstance())
                            .build());

            WorkCompletion first = queue.next();
            WorkCompletion second = queue.next();
            WorkCompletion third = queue.next();

            assertThat(first.getId()).isEqualTo(1);
            assertThat(first.getOpcode()).isEqualTo(Opcode.OPCODE_WRITE);
            assertThat(first.getLength()).isEqualTo(SIZE);
            assertThat(second.getId()).isEqualTo(2);
            assertThat(third.getId()).isEqualTo(3);
            assertThat(third.getOpcode()).isEqualTo(Opcode.OPCODE_FLUSH);
        }
    }

    @Test
    void flaggedSendTakesTheReceiveBeforeItCompletes() {
        Region inbox = server.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        try (TestQueue receiver = server.queue(1)) {
            receiver.credits();
            connection = client.connectTo(server, receiver, receive(5, 0, inbox, 0, SIZE))
                    .here()
                    .getId();

            perform(send(1, connection, source, SIZE).setWithFlush(true));
        }

        assertThat(server.load(inbox.getId(), 0, SIZE)).hasSize(SIZE);
        StatusRuntimeException failure =
                Waiting.failure(() -> perform(send(2, connection, source, SIZE).setWithFlush(true)));
        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(detail(failure, ErrorAdvice.class).orElseThrow().getRetry())
                .isEqualTo(Retry.RETRY_AFTER_RECONNECTING);
    }

    @Test
    void flushBehindARefusedWriteTellsThePeersErrorWheneverItComes() {
        for (int round = 0; round < 30; round++) {
            connection = client.connectTo(server).here().getId();
            writeTo(readOnly);
            if (round % 3 == 0) {
                Waiting.failure(this::flush);
            }

            StatusRuntimeException failure = Waiting.failure(this::flush);

            assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
            assertThat(failure.getStatus().getDescription()).contains("Invalid STag");
            assertThat(detail(failure, RdmaError.class).orElseThrow().getRemote())
                    .isTrue();
            assertThat(detail(failure, ErrorAdvice.class).orElseThrow().getRetry())
                    .isEqualTo(Retry.RETRY_NEVER);
        }
    }

    @Test
    void workOnAConnectionThatAnErrorEndedMaySucceedAfterReconnecting() {
        writeTo(readOnly);
        Waiting.failure(this::flush);

        StatusRuntimeException failure = Waiting.failure(() -> writeTo(target));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(failure.getStatus().getDescription()).contains("correct the work that the error is about");
        assertThat(detail(failure, ErrorAdvice.class).orElseThrow().getRetry())
                .isEqualTo(Retry.RETRY_AFTER_RECONNECTING);
    }

    @Test
    void completionsOfAQueueTellTheCodeAndWhenToTryAgain() {
        try (TestQueue queue = client.queue(8)) {
            queue.credits();
            queue.post(
                    write(1, connection, source, readOnly, SIZE)
                            .setUnsignaled(true)
                            .build(),
                    WorkRequest.newBuilder()
                            .setId(2)
                            .setConnection(connection)
                            .setFlush(FlushWork.getDefaultInstance())
                            .build());

            WorkCompletion flushed = queue.next();
            while (flushed.getId() != 2) {
                flushed = queue.next();
            }

            assertThat(flushed.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_REMOTE_ACCESS_ERROR);
            assertThat(flushed.getCode()).isEqualTo(Status.Code.PERMISSION_DENIED.value());
            assertThat(flushed.getRetry()).isEqualTo(Retry.RETRY_NEVER);
        }
    }

    @Test
    void flushOnAQueueBehindARefusedWriteTellsThePeersErrorWhenTheConnectionIsGone() {
        writeTo(readOnly);
        Waiting.failure(this::flush);
        Awaitility.await().until(() -> client.listConnections().isEmpty());
        try (TestQueue queue = client.queue(8)) {
            queue.credits();
            queue.post(
                    WorkRequest.newBuilder()
                            .setId(1)
                            .setConnection(connection)
                            .setFlush(FlushWork.getDefaultInstance())
                            .build(),
                    write(2, connection, source, target, SIZE).build());

            WorkCompletion flush = queue.next();
            WorkCompletion write = queue.next();

            assertThat(flush.getCode()).isEqualTo(Status.Code.PERMISSION_DENIED.value());
            assertThat(flush.getError().getRemote()).isTrue();
            assertThat(flush.getRetry()).isEqualTo(Retry.RETRY_NEVER);
            assertThat(write.getCode()).isEqualTo(Status.Code.PERMISSION_DENIED.value());
            assertThat(write.getRetry()).isEqualTo(Retry.RETRY_AFTER_RECONNECTING);
        }
    }
}
