// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.service.testing.RingWork;
import io.sidewarp.service.testing.TestRings;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.DestroyRingRequest;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.FlushWork;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RingServiceGrpc;
import io.sidewarp.v1.SharedReceiveQueue;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests rings over several connections, full send queues, shared receive queues and two completion rings. */
final class RingPairsTest extends SharedReceiveFixture {

    private static final int ENTRIES = 16;
    private static final int MANY = 300;

    private Region back;
    private Region outbox;

    @BeforeEach
    void register() {
        back = client.managed(SLOT, Access.ACCESS_REMOTE_WRITE);
        outbox = server.managed(SLOT);
    }

    /** Returns a pair whose accepting end has a send queue for two. */
    private TestSession.Pair narrow() {
        TestSession.Pair pair = client.connectTo(
                server, ConnectionOptions.newBuilder().setSendQueue(2).build());
        // The accepting end may not send before (RFC 5044 section 7.1.2).
        client.transfer()
                .perform(PerformRequest.newBuilder()
                        .setSession(client.token())
                        .setWork(WorkRequest.newBuilder()
                                .setConnection(pair.here().getId())
                                .setFlush(FlushWork.getDefaultInstance()))
                        .build());
        return pair;
    }

    private List<WorkRequest> writes(long connection, int count) {
        List<WorkRequest> work = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            work.add(write(i, connection, outbox, back, 8).build());
        }
        return work;
    }

    @Test
    void workThatWaitsForAFullSendQueueKeepsItsOrderAndLosesNoRoom() {
        long first = narrow().there().getId();
        long second = narrow().there().getId();
        try (RingWork rings = new RingWork(right, server, ENTRIES)) {
            for (int round = 0; round < 3; round++) {
                rings.post(writes(first, MANY));
                rings.post(writes(second, MANY));

                List<WorkCompletion> completions = rings.next(2 * MANY);
                assertThat(completions)
                        .extracting(WorkCompletion::getStatus)
                        .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
                for (long connection : new long[] {first, second}) {
                    assertThat(completions)
                            .filteredOn(completion -> completion.getConnection() == connection)
                            .extracting(WorkCompletion::getId)
                            .isSorted()
                            .hasSize(MANY);
                }
            }
        }
    }

    @Test
    void workThatWaitsForAFullSendQueueCompletesWhenItsConnectionEnds() {
        TestSession.Pair ending = narrow();
        long other = narrow().there().getId();
        try (RingWork rings = new RingWork(right, server, ENTRIES)) {
            rings.post(writes(ending.there().getId(), MANY));
            rings.next(MANY / 10);

            client.connections()
                    .disconnect(DisconnectRequest.newBuilder()
                            .setSession(client.token())
                            .setConnection(ending.here().getId())
                            .setAbort(true)
                            .build());
            rings.post(writes(other, MANY));

            List<WorkCompletion> completions = rings.next(MANY - MANY / 10 + MANY);
            Set<Long> ids = new HashSet<>();
            for (WorkCompletion completion : completions) {
                if (completion.getConnection() == other) {
                    assertThat(completion.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
                } else {
                    assertThat(ids.add(completion.getId())).isTrue();
                }
            }
            assertThat(ids).hasSize(MANY - MANY / 10);
            assertThat(rings.isEmpty()).isTrue();
        }
    }

    @Test
    void messagesOfTwoConnectionsTakeSharedReceivesOfARing() {
        SharedReceiveQueue queue =
                create(server, CreateSharedReceiveQueueRequest.newBuilder().setCapacity(8));
        TestSession.Pair first = client.connectTo(server, using(queue));
        TestSession.Pair second = client.connectTo(server, using(queue));
        try (TestRings rings = new TestRings(right, server, ENTRIES)) {
            for (long i = 0; i < 100; i++) {
                rings.publish(receive(i % 8, queue));
                TestSession.Pair sender = i % 2 == 0 ? first : second;

                sendOn(sender, 8);

                WorkCompletion received = rings.next();
                assertThat(received.getStatus())
                        .as(received.getMessage())
                        .isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
                assertThat(received.getId()).isEqualTo(i % 8);
                assertThat(received.getConnection()).isEqualTo(sender.there().getId());
            }
            for (int i = 0; i < 9; i++) {
                rings.post(receive(i, queue));
            }
            WorkCompletion refused = rings.next();
            assertThat(refused.getId()).isEqualTo(8);
            assertThat(refused.getMessage()).contains("full with 8 receives");
        }
    }

    @Test
    void sendsAndReceivesCompleteAtTwoCompletionRings() {
        TestSession.Pair pair = client.connectTo(server);
        long accepted = pair.there().getId();
        try (TestRings sends = new TestRings(right, server, ENTRIES);
                TestRings receives = new TestRings(right, server, ENTRIES)) {
            for (int i = 0; i < 50; i++) {
                receives.post(Works.receive(i, accepted, target, 0, SLOT).build());
                sendOn(pair, 8);
                sends.post(write(100 + i, accepted, outbox, back, 8).build());
                assertThat(receives.next().getId()).isEqualTo(i);
                assertThat(sends.next().getId()).isEqualTo(100 + i);
            }

            RingServiceGrpc.newBlockingStub(server.channel())
                    .destroyRing(DestroyRingRequest.newBuilder()
                            .setSession(server.token())
                            .setRing(sends.completionRing().getId())
                            .build());

            receives.post(Works.receive(7, accepted, target, 0, SLOT).build());
            sendOn(pair, 8);
            assertThat(receives.next().getId()).isEqualTo(7);
            receives.post(send(8, accepted, outbox, 8).build());
            assertThat(receives.next().getOpcode()).isEqualTo(Opcode.OPCODE_SEND);
        }
    }
}
