// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.remote;
import static io.sidewarp.service.testing.Works.sge;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.FlushRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.WriteRequest;
import io.sidewarp.v1.WriteWork;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;

/** A connection between two sidecars, on which a test loses data. */
abstract class DeliveryFixture extends TwoSidecars {

    static final int SIZE = 64;

    Region source;
    Region target;
    /** A region that the peer may read and not write. */
    Region readOnly;

    TestSession.Pair pair;
    long connection;

    @BeforeEach
    void connect() {
        source = client.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        target = server.managed(SIZE, Access.ACCESS_REMOTE_WRITE, Access.ACCESS_REMOTE_READ);
        readOnly = server.managed(SIZE, Access.ACCESS_REMOTE_READ);
        pair = client.connectTo(server);
        connection = pair.here().getId();
    }

    void writeTo(Region region) {
        client.transfer()
                .write(WriteRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection)
                        .setWork(WriteWork.newBuilder()
                                .addLocal(sge(source, 0, SIZE))
                                .setRemote(remote(region, 0)))
                        .build());
    }

    void flush() {
        client.transfer()
                .flush(FlushRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection)
                        .build());
    }

    static void disconnect(TestSession session, Connection connection, boolean abort) {
        session.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(session.token())
                        .setConnection(connection.getId())
                        .setAbort(abort)
                        .build());
    }

    void awaitClosed() {
        Awaitility.await()
                .until(
                        () -> client.nextEvent().getConnection(),
                        change -> change.getState() == ConnectionState.CONNECTION_STATE_CLOSED);
    }

    static <T extends com.google.protobuf.Message> Optional<T> detail(StatusRuntimeException failure, Class<T> type) {
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
}
