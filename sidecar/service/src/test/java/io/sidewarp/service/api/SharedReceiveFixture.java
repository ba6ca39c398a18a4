// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.sharedReceive;

import io.sidewarp.service.testing.TestSession;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.DestroySharedReceiveQueueRequest;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.ListSharedReceiveQueuesRequest;
import io.sidewarp.v1.ModifySharedReceiveQueueRequest;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.SharedReceiveQueue;
import io.sidewarp.v1.WorkRequest;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;

/** Connections of the server share a receive queue. Connections of the client send to them. */
abstract class SharedReceiveFixture extends TwoSidecars {

    static final int SLOT = 64;

    Region source;
    Region target;

    @BeforeEach
    void prepare() {
        source = client.managed(SLOT);
        target = server.managed(16 * SLOT, Access.ACCESS_LOCAL_WRITE);
        client.store(source.getId(), 0, TransferTest.random(SLOT), SLOT);
    }

    SharedReceiveQueue create(int capacity, int limit) {
        return create(
                server,
                CreateSharedReceiveQueueRequest.newBuilder()
                        .setCapacity(capacity)
                        .setLimit(limit));
    }

    static SharedReceiveQueue create(TestSession session, CreateSharedReceiveQueueRequest.Builder request) {
        return session.sharedReceives()
                .createSharedReceiveQueue(request.setSession(session.token()).build())
                .getSharedReceiveQueue();
    }

    static ConnectionOptions using(SharedReceiveQueue queue) {
        return ConnectionOptions.newBuilder()
                .setSharedReceiveQueue(queue.getId())
                .build();
    }

    WorkRequest receive(long id, SharedReceiveQueue queue) {
        return sharedReceive(id, queue.getId(), target, id * SLOT, SLOT).build();
    }

    /** Sends from a connection of the client, and returns when the peer has the message. */
    void sendOn(TestSession.Pair pair, long octets) {
        client.transfer()
                .perform(PerformRequest.newBuilder()
                        .setSession(client.token())
                        .setWork(send(1, pair.here().getId(), source, octets))
                        .build());
    }

    void disconnect(Connection connection) {
        server.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(server.token())
                        .setConnection(connection.getId())
                        .build());
    }

    void destroy(SharedReceiveQueue queue) {
        server.sharedReceives()
                .destroySharedReceiveQueue(DestroySharedReceiveQueueRequest.newBuilder()
                        .setSession(server.token())
                        .setSharedReceiveQueue(queue.getId())
                        .build());
    }

    void arm(SharedReceiveQueue queue, int limit) {
        server.sharedReceives()
                .modifySharedReceiveQueue(ModifySharedReceiveQueueRequest.newBuilder()
                        .setSession(server.token())
                        .setSharedReceiveQueue(queue.getId())
                        .setLimit(limit)
                        .build());
    }

    List<SharedReceiveQueue> list() {
        return server.sharedReceives()
                .listSharedReceiveQueues(ListSharedReceiveQueuesRequest.newBuilder()
                        .setSession(server.token())
                        .build())
                .getSharedReceiveQueuesList();
    }

    /** The next event that is none of a connection. */
    OpenSessionResponse nextEvent() {
        OpenSessionResponse event = server.nextEvent();
        while (event.hasConnection()) {
            event = server.nextEvent();
        }
        return event;
    }
}
