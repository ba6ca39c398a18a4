// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.sge;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.FlushRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.SendRequest;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.WatchConnectionRequest;
import io.sidewarp.v1.WatchConnectionResponse;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests what the sidecar still knows of a closed connection, and what it releases. */
class ClosedConnectionTest extends TwoSidecars {

    private static final int SIZE = 64;

    @Test
    void itsQueuesAreNotKept() {
        Connection connection = client.connectTo(server).here();
        WeakReference<QueuePair> queuePair = queuePair(connection);

        disconnect(client, connection);

        assertForgotten(queuePair);
    }

    @Test
    void workForItNamesWhatEndedIt() {
        Connection connection = client.connectTo(server).here();
        disconnect(client, connection);

        assertThat(Waiting.status(() -> client.transfer()
                                .flush(FlushRequest.newBuilder()
                                        .setSession(client.token())
                                        .setConnection(connection.getId())
                                        .build()))
                        .getDescription())
                .isEqualTo("connection " + connection.getId() + " has ended: closed by this side; connect again");
    }

    @Test
    void whoWatchesItThenIsToldWhatEndedIt() {
        Connection connection = client.connectTo(server).here();
        Region source = client.managed(SIZE);
        client.transfer()
                .send(SendRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection.getId())
                        .setWork(SendWork.newBuilder().addLocal(sge(source, 0, SIZE)))
                        .build());
        ConnectionStateChange last = Awaitility.await()
                .until(
                        () -> client.nextEvent().getConnection(),
                        change -> change.getState() == ConnectionState.CONNECTION_STATE_CLOSED);

        Iterator<WatchConnectionResponse> changes = client.connections()
                .watchConnection(WatchConnectionRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection.getId())
                        .build());

        assertThat(changes.next().getChange()).isEqualTo(last);
        assertThat(changes.hasNext()).isFalse();
        // It had no receive for the message.
        assertThat(last.getError().getRemote()).isTrue();
        assertThat(last.getMessage()).contains("no buffer available");
    }

    /** A method of its own, so that its frame holds the queue pair no longer than necessary. */
    private WeakReference<QueuePair> queuePair(Connection connection) {
        CompletableFuture<WeakReference<QueuePair>> found = new CompletableFuture<>();
        SidecarSession session = left.sidecar().sessions().require(client.token(), new Peer(0, uid(), 0));
        session.context()
                .run(() -> found.complete(new WeakReference<>(
                        session.connections().require(connection.getId()).queuePair())));
        return Waiting.join(found);
    }

    private static long uid() {
        try {
            return Integer.toUnsignedLong((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void assertForgotten(WeakReference<?> object) {
        Awaitility.await().until(() -> {
            System.gc();
            return object.refersTo(null);
        });
    }

    private static void disconnect(TestSession session, Connection connection) {
        session.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(session.token())
                        .setConnection(connection.getId())
                        .build());
    }
}
