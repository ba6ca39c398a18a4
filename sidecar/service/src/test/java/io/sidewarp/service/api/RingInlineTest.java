// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.ring.WorkEntryFlyweight;
import io.sidewarp.service.testing.TestRings;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.AllocateProtectionDomainRequest;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.DeallocateProtectionDomainRequest;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.FlushWork;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests entries of rings that carry their payload, in the default protection domain and in others. */
final class RingInlineTest extends TwoSidecars {

    private static final int SIZE = 4096;

    private final byte[] payload = new byte[WorkEntryFlyweight.MAX_INLINE];
    private Region target;

    @BeforeEach
    void fill() {
        target = server.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
        for (int i = 0; i < payload.length; i++) {
            payload[i] = (byte) (i * 7 + 1);
        }
    }

    @Test
    void payloadReachesThePeer() {
        long connection = connect(0).getId();
        try (TestRings rings = new TestRings(left, client, 16)) {
            for (int round = 0; round < 300; round++) {
                assertSuccess(write(rings, connection));
            }
            assertPlaced(rings, connection);
        }
    }

    @Test
    void payloadWorksInEveryProtectionDomain() {
        long domain = client.memory()
                .allocateProtectionDomain(AllocateProtectionDomainRequest.newBuilder()
                        .setSession(client.token())
                        .build())
                .getProtectionDomain();
        long own = connect(domain).getId();
        long other = connect(0).getId();
        try (TestRings rings = new TestRings(left, client, 16)) {
            for (int round = 0; round < 300; round++) {
                assertSuccess(write(rings, round % 2 == 0 ? own : other));
            }
            assertPlaced(rings, own);

            // A domain with a connection stays, and its connection goes on.
            assertThat(Waiting.status(() -> deallocate(domain)).getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
            assertSuccess(write(rings, own));
            assertPlaced(rings, own);
        }
        client.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(own)
                        .build());

        // The memory of inline payload does not keep the domain.
        Awaitility.await().untilAsserted(() -> deallocate(domain));
        assertThat(Waiting.status(() -> deallocate(domain)).getCode()).isEqualTo(Status.Code.NOT_FOUND);
    }

    private void deallocate(long domain) {
        client.memory()
                .deallocateProtectionDomain(DeallocateProtectionDomainRequest.newBuilder()
                        .setSession(client.token())
                        .setProtectionDomain(domain)
                        .build());
    }

    private Connection connect(long domain) {
        try (TestSession.Listening listening = server.listen()) {
            CompletableFuture<Connection> connecting = client.connect(client.connectRequest(listening.port())
                    .setOptions(ConnectionOptions.newBuilder().setProtectionDomain(domain))
                    .build());
            server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .build());
            return Waiting.join(connecting);
        }
    }

    private WorkCompletion write(TestRings rings, long connection) {
        WorkEntryFlyweight entry = rings.entry()
                .opcode(WorkEntryFlyweight.OPCODE_WRITE)
                .id(connection)
                .connection(connection)
                .remoteStag(target.getStag())
                .remoteOffset(target.getBaseTaggedOffset())
                .element(0, 0, 0, payload.length)
                .flags(WorkEntryFlyweight.FLAG_INLINE);
        entry.payload(MemorySegment.ofArray(payload));
        entry.blocks(WorkEntryFlyweight.inlineBlocks(WorkEntryFlyweight.OPCODE_WRITE, payload.length));
        rings.publish(false);
        rings.wakeSidecar();
        return rings.next();
    }

    private void assertPlaced(TestRings rings, long connection) {
        rings.post(WorkRequest.newBuilder()
                .setId(1000)
                .setConnection(connection)
                .setFlush(FlushWork.getDefaultInstance())
                .build());
        assertThat(rings.next().getId()).isEqualTo(1000);
        assertThat(server.load(target.getId(), 0, payload.length)).isEqualTo(payload);
    }

    private static void assertSuccess(WorkCompletion completion) {
        assertThat(completion.getStatus())
                .as(completion.getMessage())
                .isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
    }
}
