// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.sge;
import static io.sidewarp.service.testing.Works.sharedReceive;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.AllocateProtectionDomainRequest;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.DeallocateProtectionDomainRequest;
import io.sidewarp.v1.DestroySharedReceiveQueueRequest;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.ListSharedReceiveQueuesRequest;
import io.sidewarp.v1.ManagedBacking;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.SharedReceiveQueue;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the refusals of shared receive queues, and their quotas. */
class SharedReceiveLimitsTest extends SharedReceiveFixture {

    @Test
    void aConnectionWithSharedReceivesHasNoneOfItsOwn() {
        SharedReceiveQueue queue = create(4, 0);
        TestSession.Pair pair = client.connectTo(server, using(queue));

        try (TestQueue receiver = server.queue(4)) {
            receiver.credits();
            receiver.post(WorkRequest.newBuilder()
                    .setConnection(pair.there().getId())
                    .setReceive(ReceiveWork.newBuilder().addLocal(sge(target, 0, SLOT)))
                    .build());
            WorkCompletion refused = receiver.next();
            assertThat(refused.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST);
            assertThat(refused.getMessage())
                    .contains("connection " + pair.there().getId())
                    .contains("shared receive queue " + queue.getId());
        }
        Status own = refusedConnect(using(queue).toBuilder().setReceiveQueue(4).build());
        assertThat(own.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(own.getDescription()).contains("options.receive_queue is 4");
    }

    /** Returns the error of a connect of the server with options. No listener is necessary. */
    private Status refusedConnect(ConnectionOptions options) {
        return Waiting.status(() -> server.connections()
                .connect(server.connectRequest(1).setOptions(options).build()));
    }

    @Test
    @Requirement("RDMAP-8.1.1-09")
    void itServesItsOwnSessionAndProtectionDomainOnly() {
        SharedReceiveQueue queue = create(4, 0);
        long domain = server.memory()
                .allocateProtectionDomain(AllocateProtectionDomainRequest.newBuilder()
                        .setSession(server.token())
                        .build())
                .getProtectionDomain();

        Status otherDomain = refusedConnect(
                using(queue).toBuilder().setProtectionDomain(domain).build());
        assertThat(otherDomain.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(otherDomain.getDescription()).contains("protection domain " + queue.getProtectionDomain());
        try (TestSession other = right.session("other")) {
            Region theirs = other.managed(SLOT, Access.ACCESS_LOCAL_WRITE);
            assertThat(Waiting.status(() -> other.connections()
                                    .connect(other.connectRequest(1)
                                            .setOptions(using(queue))
                                            .build()))
                            .getCode())
                    .isEqualTo(Status.Code.NOT_FOUND);
            Status post = Waiting.status(() -> other.transfer()
                    .perform(PerformRequest.newBuilder()
                            .setSession(other.token())
                            .setWork(sharedReceive(1, queue.getId(), theirs, 0, SLOT))
                            .build()));
            assertThat(post.getCode()).isEqualTo(Status.Code.NOT_FOUND);
            assertThat(post.getDescription()).contains("shared receive queue " + queue.getId());
        }
        assertThat(list())
                .singleElement()
                .extracting(SharedReceiveQueue::getReceives)
                .isEqualTo(0);
    }

    @Test
    void workThatItCannotTakeIsRefusedWithTheReason() {
        SharedReceiveQueue queue = create(4, 0);
        TestSession.Pair pair = client.connectTo(server, using(queue));
        long domain = server.memory()
                .allocateProtectionDomain(AllocateProtectionDomainRequest.newBuilder()
                        .setSession(server.token())
                        .build())
                .getProtectionDomain();
        Region foreign = register(RegisterRegionRequest.newBuilder().setProtectionDomain(domain));
        Region exclusive = register(
                RegisterRegionRequest.newBuilder().setConnection(pair.there().getId()));

        assertRefused(send(1, 0, target, 8).setSharedReceiveQueue(queue.getId()), "takes receives only");
        assertRefused(
                sharedReceive(1, queue.getId(), target, 0, 8)
                        .setConnection(pair.there().getId()),
                "name one of them");
        assertRefused(sharedReceive(1, queue.getId(), target, 0, 17 * SLOT), "which has 1024 bytes");
        assertRefused(sharedReceive(1, queue.getId(), foreign, 0, 8), "is in protection domain " + domain);
        assertRefused(sharedReceive(1, queue.getId(), exclusive, 0, 8), "was registered for connection");
        assertRefused(sharedReceive(1, 4711, target, 0, 8), "shared receive queue 4711 is not known");
        Status empty = Waiting.status(() -> server.transfer()
                .receive(ReceiveRequest.newBuilder()
                        .setSession(server.token())
                        .setSharedReceiveQueue(queue.getId())
                        .build()));
        assertThat(empty.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(list())
                .singleElement()
                .extracting(SharedReceiveQueue::getReceives)
                .isEqualTo(0);
    }

    private Region register(RegisterRegionRequest.Builder request) {
        return server.memory()
                .registerRegion(request.setSession(server.token())
                        .addAccess(Access.ACCESS_LOCAL_WRITE)
                        .setManaged(ManagedBacking.newBuilder().setLength(SLOT))
                        .build())
                .getRegion();
    }

    private void assertRefused(WorkRequest.Builder work, String reason) {
        Status status = Waiting.status(() -> server.transfer()
                .perform(PerformRequest.newBuilder()
                        .setSession(server.token())
                        .setWork(work)
                        .build()));
        assertThat(status.getDescription()).contains(reason);
    }

    @Test
    void impossibleSizesAndLimitsAreRefused() {
        Status large = Waiting.status(() -> create(4097, 0));
        assertThat(large.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(large.getDescription()).contains("sidewarp.limits.receive-queue");
        assertThat(Waiting.status(() -> create(4, 5)).getDescription())
                .contains("limit is 5")
                .contains("0 to 4");

        SharedReceiveQueue queue = create(0, 0);
        assertThat(queue.getCapacity()).isEqualTo(256);
        assertThat(Waiting.status(() -> arm(queue, 257)).getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void itsProtectionDomainStays() {
        long domain = server.memory()
                .allocateProtectionDomain(AllocateProtectionDomainRequest.newBuilder()
                        .setSession(server.token())
                        .build())
                .getProtectionDomain();
        SharedReceiveQueue queue =
                create(server, CreateSharedReceiveQueueRequest.newBuilder().setProtectionDomain(domain));
        DeallocateProtectionDomainRequest deallocate = DeallocateProtectionDomainRequest.newBuilder()
                .setSession(server.token())
                .setProtectionDomain(domain)
                .build();

        Status refused = Waiting.status(() -> server.memory().deallocateProtectionDomain(deallocate));
        assertThat(refused.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(refused.getDescription()).contains("1 shared receive queues");
        destroy(queue);
        server.memory().deallocateProtectionDomain(deallocate);
    }

    @ParameterizedTest
    @Requirement({"RDMAP-8.1.2-02", "RDMAP-8.1.2-05"})
    @CsvSource({
        "sidewarp.limits.shared-receive-queues, 1",
        "sidewarp.limits.receives, 511",
        "sidewarp.limits.completion-entries, 511",
        "sidewarp.limits.work-entries, 1535"
    })
    void aSecondOneBeyondALimitIsRefusedUntilTheFirstIsDestroyed(String setting, String limit) {
        try (TestSidecar limited = TestSidecar.start(setting, limit);
                TestSession session = limited.session()) {
            CreateSharedReceiveQueueRequest.Builder request =
                    CreateSharedReceiveQueueRequest.newBuilder().setCapacity(256);
            SharedReceiveQueue first = create(session, request);

            Status status = Waiting.status(() -> create(session, request));

            assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(status.getDescription()).contains(setting).contains(limit);
            session.sharedReceives()
                    .destroySharedReceiveQueue(DestroySharedReceiveQueueRequest.newBuilder()
                            .setSession(session.token())
                            .setSharedReceiveQueue(first.getId())
                            .build());
            create(session, request);
        }
    }

    @Test
    void connectionsThatShareTakeNoReceivesFromTheQuotaOfTheirOwn() {
        try (TestSidecar limited = TestSidecar.start("sidewarp.limits.receives", "256");
                TestSession session = limited.session("limited")) {
            SharedReceiveQueue queue =
                    create(session, CreateSharedReceiveQueueRequest.newBuilder().setCapacity(256));

            client.connectTo(session, using(queue));
            client.connectTo(session, using(queue));

            assertThat(session.sharedReceives()
                            .listSharedReceiveQueues(ListSharedReceiveQueuesRequest.getDefaultInstance())
                            .getSharedReceiveQueuesList())
                    .singleElement()
                    .satisfies(listed -> {
                        assertThat(listed.getConnections()).isEqualTo(2);
                        assertThat(listed.getSessionName()).isEqualTo("limited");
                        assertThat(listed.getCapacity()).isEqualTo(256);
                    });
            assertThat(session.device()
                            .listSessions(ListSessionsRequest.getDefaultInstance())
                            .getSessions(0)
                            .getSharedReceiveQueues())
                    .isEqualTo(1);
        }
    }
}
