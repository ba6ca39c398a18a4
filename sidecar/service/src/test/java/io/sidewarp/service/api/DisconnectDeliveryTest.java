// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.read;
import static io.sidewarp.service.testing.Works.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.google.protobuf.Duration;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CloseSessionRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ErrorAdvice;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.ReadRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.Retry;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the reports of Disconnect and CloseSession to a program about the delivery of its data. */
class DisconnectDeliveryTest extends DeliveryFixture {

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

    private void readTarget() {
        client.transfer()
                .read(ReadRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection)
                        .setWork(read(0, 0, source, target, SIZE).getRead())
                        .build());
    }

    private void closeSession(long graceSeconds) {
        client.device()
                .closeSession(CloseSessionRequest.newBuilder()
                        .setSession(client.token())
                        .setGrace(Duration.newBuilder().setSeconds(graceSeconds))
                        .build());
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
