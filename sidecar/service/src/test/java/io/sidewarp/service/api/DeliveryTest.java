// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.read;
import static io.sidewarp.service.testing.Works.receive;
import static io.sidewarp.service.testing.Works.remote;
import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.sge;
import static io.sidewarp.service.testing.Works.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CloseSessionRequest;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.ErrorAdvice;
import io.sidewarp.v1.FlushRequest;
import io.sidewarp.v1.FlushWork;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.ReadRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.Retry;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteRequest;
import io.sidewarp.v1.WriteWork;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the reports to a program about the delivery of its data. */
class DeliveryTest extends TwoSidecars {

    private static final int SIZE = 64;

    private Region source;
    private Region target;
    /** A region that the peer may read and not write. */
    private Region readOnly;

    private TestSession.Pair pair;
    private long connection;

    @BeforeEach
    void connect() {
        source = client.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        target = server.managed(SIZE, Access.ACCESS_REMOTE_WRITE, Access.ACCESS_REMOTE_READ);
        readOnly = server.managed(SIZE, Access.ACCESS_REMOTE_READ);
        pair = client.connectTo(server);
        connection = pair.here().getId();
    }

    /** Ends of the client's connection. */
    enum End {
        /** The peer refuses a Write. */
        TERMINATE,
        /** The peer aborts. */
        RESET,
        /** The peer closes gracefully. */
        FIN
    }

    /** Confirmation before the end. */
    enum Confirmed {
        NOTHING,
        BY_FLUSH,
        BY_READ
    }

    private void writeTo(Region region) {
        client.transfer()
                .write(WriteRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection)
                        .setWork(WriteWork.newBuilder()
                                .addLocal(sge(source, 0, SIZE))
                                .setRemote(remote(region, 0)))
                        .build());
    }

    private void flush() {
        client.transfer()
                .flush(FlushRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection)
                        .build());
    }

    private void readTarget() {
        client.transfer()
                .read(ReadRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection)
                        .setWork(read(0, 0, source, target, SIZE).getRead())
                        .build());
    }

    private static void disconnect(TestSession session, Connection connection, boolean abort) {
        session.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(session.token())
                        .setConnection(connection.getId())
                        .setAbort(abort)
                        .build());
    }

    private void awaitClosed() {
        Awaitility.await()
                .until(
                        () -> client.nextEvent().getConnection(),
                        change -> change.getState() == ConnectionState.CONNECTION_STATE_CLOSED);
    }

    private void closeSession(long graceSeconds) {
        client.device()
                .closeSession(CloseSessionRequest.newBuilder()
                        .setSession(client.token())
                        .setGrace(Duration.newBuilder().setSeconds(graceSeconds))
                        .build());
    }

    private static <T extends com.google.protobuf.Message> Optional<T> detail(
            StatusRuntimeException failure, Class<T> type) {
        return StatusProto.fromThrowable(failure).getDetailsList().stream()
                .filter(any -> any.is(type))
                .map(any -> unpack(any, type))
                .findAny();
    }

    private static <T extends com.google.protobuf.Message> T unpack(Any any, Class<T> type) {
        try {
            return any.unpack(type);
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException(e);
        }
    }

    private WorkCompletion perform(WorkRequest.Builder work) {
        return client.transfer()
                .perform(PerformRequest.newBuilder()
                        .setSession(client.token())
                        .setWork(work)
                        .build())
                .getCompletion();
    }

    // Flush.

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

    // Disconnect: what ended the connection, and what was confirmed before, against its result.

    @ParameterizedTest
    @EnumSource(Confirmed.class)
    void disconnectFailsAfterATerminateForWhatIsNotConfirmed(Confirmed confirmed) {
        end(End.TERMINATE, confirmed);

        StatusRuntimeException failure = Waiting.failure(() -> disconnect(client, pair.here(), false));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(failure.getStatus().getDescription()).contains("may not have arrived");
        assertThat(detail(failure, RdmaError.class).orElseThrow().getRemote()).isTrue();
        // It stays true.
        assertThat(Waiting.status(() -> disconnect(client, pair.here(), false)).getCode())
                .isEqualTo(Status.Code.PERMISSION_DENIED);
    }

    @ParameterizedTest
    @EnumSource(Confirmed.class)
    void disconnectAfterAResetIsUnavailableWithoutRdmaErrorUnlessAllIsConfirmed(Confirmed confirmed) {
        end(End.RESET, confirmed);

        if (confirmed == Confirmed.NOTHING) {
            StatusRuntimeException failure = Waiting.failure(() -> disconnect(client, pair.here(), false));
            assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(failure.getStatus().getDescription()).contains("may not have arrived");
            assertThat(detail(failure, RdmaError.class)).isEmpty();
            assertThat(detail(failure, ErrorAdvice.class).orElseThrow().getRetry())
                    .isEqualTo(Retry.RETRY_AFTER_RECONNECTING);
        } else {
            assertThatCode(() -> disconnect(client, pair.here(), false)).doesNotThrowAnyException();
        }
    }

    @ParameterizedTest
    @EnumSource(Confirmed.class)
    void disconnectAfterThePeersGracefulCloseSucceeds(Confirmed confirmed) {
        end(End.FIN, confirmed);

        assertThatCode(() -> disconnect(client, pair.here(), false)).doesNotThrowAnyException();
    }

    private void end(End end, Confirmed confirmed) {
        writeTo(target);
        switch (confirmed) {
            case NOTHING -> {}
            case BY_FLUSH -> flush();
            case BY_READ -> readTarget();
        }
        switch (end) {
            case TERMINATE -> writeTo(readOnly);
            case RESET -> disconnect(server, pair.there(), true);
            case FIN -> disconnect(server, pair.there(), false);
        }
        awaitClosed();
    }

    @Test
    void disconnectThatRacesWithTheRefusalFailsToo() {
        for (int round = 0; round < 40; round++) {
            TestSession.Pair next = client.connectTo(server);
            connection = next.here().getId();
            writeTo(readOnly);

            assertThat(Waiting.status(() -> disconnect(client, next.here(), false))
                            .getCode())
                    .isEqualTo(Status.Code.PERMISSION_DENIED);
        }
    }

    @Test
    void abortSucceedsWhateverIsConfirmed() {
        end(End.RESET, Confirmed.NOTHING);

        assertThatCode(() -> disconnect(client, pair.here(), true)).doesNotThrowAnyException();
    }

    @Test
    void gracefulDisconnectThatAnAbortOvertakesFailsForWhatIsNotConfirmed() {
        // The accepting side may not send before its peer has sent (RFC 5044 section 7.1.2), so that this stays posted.
        Region outbox = server.managed(SIZE);
        Region there = client.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
        try (TestQueue queue = server.queue(2)) {
            queue.credits();
            queue.post(write(1, pair.there().getId(), outbox, there, SIZE).build());
            Awaitility.await()
                    .until(() -> server.listConnections().stream()
                            .anyMatch(accepted ->
                                    accepted.getState() == ConnectionState.CONNECTION_STATE_WAITING_FOR_PEER));
            CompletableFuture<Status> graceful =
                    CompletableFuture.supplyAsync(() -> Waiting.status(() -> disconnect(server, pair.there(), false)));
            Awaitility.await().during(100, TimeUnit.MILLISECONDS).until(() -> !graceful.isDone());

            disconnect(server, pair.there(), true);

            Status status = Waiting.join(graceful);
            assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(status.getDescription())
                    .contains("may not have arrived")
                    .contains("aborted during its graceful close");
        }
    }

    // The end of a session.

    @Test
    void closeSessionWaitsForItsConnectionsAndEndsTheSession() {
        writeTo(target);

        closeSession(20);

        assertThat(Waiting.join(client.ended())).hasMessage("completed");
        Connection there = server.listConnections().isEmpty()
                ? null
                : server.listConnections().getFirst();
        assertThat(there == null || there.getError().equals(RdmaError.getDefaultInstance()))
                .isTrue();
    }

    @Test
    void closeSessionTellsOfAConnectionThatNoDisconnectHasToldOf() {
        writeTo(readOnly);
        awaitClosed();

        StatusRuntimeException failure = Waiting.failure(() -> closeSession(20));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(failure.getStatus().getDescription()).contains("connection " + connection, "may not have arrived");
        assertThat(Waiting.join(client.ended())).hasMessage("completed");
    }

    @Test
    void closeSessionDoesNotRepeatWhatADisconnectTold() {
        writeTo(readOnly);
        awaitClosed();
        assertThat(Waiting.status(() -> disconnect(client, pair.here(), false)).getCode())
                .isEqualTo(Status.Code.PERMISSION_DENIED);

        assertThatCode(() -> closeSession(20)).doesNotThrowAnyException();
    }

    @Test
    void closeSessionWithoutTimeTellsOfWhatIsNotConfirmed() {
        writeTo(target);

        StatusRuntimeException failure = Waiting.failure(() -> closeSession(0));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(failure.getStatus().getDescription()).contains("the time for its graceful close was over");
    }

    @Test
    void closeSessionRefusesAnImpossibleGrace() {
        assertThat(Waiting.status(() -> closeSession(-1)).getDescription()).startsWith("grace is -1 s");
    }
}
