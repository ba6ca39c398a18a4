// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_LOCAL_PROTECTION_ERROR;
import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.sidewarp.v1.WorkCompletion;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the report of close() about data when the sidecar, which knows the result, is gone. */
class LostSessionTest extends FakeSidecarTest {

    private static final Sge SGE = new Sge(5, 0, 64);
    private static final WorkCompletion SUCCESS =
            FakeTransfer.completion(COMPLETION_STATUS_SUCCESS).build();
    private static final RemoteAddress REMOTE = new RemoteAddress(0x77, 0);

    @BeforeEach
    void succeed() {
        sidecar.transfer.writeCompletion = SUCCESS;
        sidecar.transfer.readCompletion = SUCCESS;
    }

    private void loseSession() throws Exception {
        sidecar.nextSession().onError(Status.UNAVAILABLE.asRuntimeException());
        await().until(() -> session.closed().isDone());
    }

    @Test
    void connectionOfALostSessionTellsOfAWriteThatNothingConfirms() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);
        connection.write(SGE, REMOTE);
        loseSession();

        SidewarpException failure = catchThrowableOfType(SidewarpException.class, connection::close);

        assertThat(failure.code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(failure.retry()).isEqualTo(Retry.AFTER_RECONNECTING);
        assertThat(failure).hasMessageContaining("may not have arrived");
        // Once.
        assertThatCode(connection::close).doesNotThrowAnyException();
        assertThatCode(session::close).doesNotThrowAnyException();
    }

    @Test
    void lostSessionTellsOfAConnectionThatWasNotClosed() throws Exception {
        session.connect("127.0.0.1", 1).write(SGE, REMOTE);
        loseSession();

        assertThat(catchThrowableOfType(SidewarpException.class, session::close))
                .hasMessageContaining("earlier Writes and Sends of session");
    }

    @Test
    void lostSessionSaysNothingOfWhatAReadOrAFlushConfirmed() throws Exception {
        Connection read = session.connect("127.0.0.1", 1);
        read.write(SGE, REMOTE);
        read.read(SGE, REMOTE);
        Connection flushed = session.connect("127.0.0.1", 2);
        flushed.perform(WorkRequest.write(flushed, REMOTE, SGE).flushed());
        loseSession();

        assertThatCode(read::close).doesNotThrowAnyException();
        assertThatCode(session::close).doesNotThrowAnyException();
    }

    @Test
    void lostSessionTellsOfAWriteBehindTheLastRead() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);
        connection.write(SGE, REMOTE);
        connection.read(SGE, REMOTE);
        connection.write(SGE, REMOTE);
        loseSession();

        assertThat(catchThrowableOfType(SidewarpException.class, connection::close))
                .hasMessageContaining("may not have arrived");
    }

    @Test
    void readThatFailedDoesNotHideWhatALaterFlushConfirms() throws Exception {
        Connection connection = session.connect("127.0.0.1", 1);
        sidecar.transfer.readCompletion = FakeTransfer.completion(COMPLETION_STATUS_LOCAL_PROTECTION_ERROR)
                .build();
        assertThat(catchThrowableOfType(WorkFailedException.class, () -> connection.read(SGE, REMOTE)))
                .isNotNull();
        connection.perform(WorkRequest.write(connection, REMOTE, SGE).flushed());
        loseSession();

        assertThatCode(connection::close).doesNotThrowAnyException();
    }

    @Test
    void callsOfALostSessionAdviseToReconnect() throws Exception {
        loseSession();

        assertThat(catchThrowableOfType(SidewarpException.class, () -> session.connect("127.0.0.1", 1))
                        .retry())
                .isEqualTo(Retry.AFTER_RECONNECTING);
    }
}
