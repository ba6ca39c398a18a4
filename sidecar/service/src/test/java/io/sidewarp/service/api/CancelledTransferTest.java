// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.Context;
import io.grpc.Status;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.testing.PlayedCall;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.ListSharedReceiveQueuesRequest;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.PerformResponse;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.WorkRequest;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests callers of transfers who leave before their work is complete. */
class CancelledTransferTest {

    @Test
    void workThatGoesOnKeepsNothingOfTheCallThatPostedIt() throws Exception {
        try (TestSidecar sidecar = TestSidecar.start();
                TestSession session = sidecar.session()) {
            Region region = session.managed(64, Access.ACCESS_LOCAL_WRITE);
            long queue = session.sharedReceives()
                    .createSharedReceiveQueue(CreateSharedReceiveQueueRequest.newBuilder()
                            .setSession(session.token())
                            .build())
                    .getSharedReceiveQueue()
                    .getId();
            PerformRequest request = PerformRequest.newBuilder()
                    .setSession(session.token())
                    .setWork(WorkRequest.newBuilder()
                            .setSharedReceiveQueue(queue)
                            .setReceive(ReceiveWork.newBuilder().addLocal(Works.sge(region, 0, 64))))
                    .build();

            WeakReference<Caller> left = performAndLeave(
                    new TransferApi(new Calls(sidecar.sidecar().sessions(), new PeerLogs(1))), request, session);

            await().until(() -> {
                System.gc();
                return left.refersTo(null);
            });
            assertThat(receives(session)).isEqualTo(1);
        }
    }

    private static WeakReference<Caller> performAndLeave(TransferApi api, PerformRequest request, TestSession session)
            throws IOException {
        Caller caller = new Caller();
        long uid = Integer.toUnsignedLong((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        Context.current().withValue(Peer.CONTEXT, new Peer(0, uid, 0)).run(() -> api.perform(request, caller));
        await().until(() -> receives(session) == 1);
        caller.leave.run();
        assertThat(Waiting.join(caller.ended)).isEqualTo(Status.Code.CANCELLED);
        return new WeakReference<>(caller);
    }

    /** Returns the number of posted receives. */
    private static int receives(TestSession session) {
        return session.sharedReceives()
                .listSharedReceiveQueues(ListSharedReceiveQueuesRequest.newBuilder()
                        .setSession(session.token())
                        .build())
                .getSharedReceiveQueues(0)
                .getReceives();
    }

    private static final class Caller extends PlayedCall<PerformResponse> {

        private final CompletableFuture<Status.Code> ended = new CompletableFuture<>();
        private Runnable leave = () -> {};

        @Override
        public void setOnCancelHandler(Runnable handler) {
            leave = handler;
        }

        @Override
        public void onError(Throwable failure) {
            ended.complete(Status.fromThrowable(failure).getCode());
        }
    }
}
