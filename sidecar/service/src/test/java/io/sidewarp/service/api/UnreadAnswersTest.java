// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.ListRegionsRequest;
import io.sidewarp.v1.ListRegionsResponse;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.WorkRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers that ask for large answers and do not read them. */
class UnreadAnswersTest {

    private static final int MIB = 1 << 20;

    /** With paths of 3.5 KiB: one answer, but not two, is within what a user may have of 1 MiB. */
    private static final int REGIONS = 80;

    /** Octets that a call takes without being read: fewer than an answer has. */
    private static final int WINDOW = 1 << 16;

    /** Of a call, in which nothing but the first response has room. */
    private static final int QUEUE_WINDOW = 8192;

    private static final int QUEUES = 20;
    private static final int REFUSED = 700;

    private TestSidecar sidecar;
    private TestSession session;

    @BeforeEach
    void start() throws IOException {
        sidecar = TestSidecar.start("sidewarp.limits.answer-octets", Integer.toString(MIB));
        session = sidecar.session();
        String directory = String.join("/", Collections.nCopies(14, "d".repeat(250)));
        Files.createDirectories(sidecar.sharedVolume().resolve(directory));
        for (int i = 0; i < REGIONS; i++) {
            session.shared(directory + "/" + i, 1);
        }
    }

    @AfterEach
    void stop() {
        session.close();
        sidecar.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anAnswerThatIsNotReadHoldsItsShareUntilItsCallerLeaves(boolean ofOneSession) {
        ListRegionsRequest request = ListRegionsRequest.newBuilder()
                .setSession(ofOneSession ? session.token() : "")
                .build();
        ManagedChannel other = sidecar.channel(WINDOW);
        try {
            ClientCall<ListRegionsRequest, ListRegionsResponse> unread =
                    other.newCall(MemoryServiceGrpc.getListRegionsMethod(), CallOptions.DEFAULT);
            CompletableFuture<Metadata> answered = new CompletableFuture<>();
            unread.start(
                    new ClientCall.Listener<>() {
                        @Override
                        public void onHeaders(Metadata headers) {
                            answered.complete(headers);
                        }
                    },
                    new Metadata());
            unread.sendMessage(request);
            unread.halfClose();
            Waiting.join(answered);

            Status status = Waiting.status(() -> session.memory().listRegions(request));

            assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(status.getDescription())
                    .contains("sidewarp.limits.answer-octets", "the limit is " + MIB, "raise the setting");
            unread.cancel("enough", null);
            await().ignoreExceptions()
                    .until(() -> session.memory().listRegions(request).getRegionsCount() == REGIONS);
        } finally {
            TestSidecar.close(other);
        }
    }

    @Test
    void completionsOfQueueCallsThatAreNotReadHoldTheirShareUntilTheirCallersLeave() {
        ManagedChannel other = sidecar.channel(QUEUE_WINDOW);
        try {
            List<TestQueue> unread = new ArrayList<>();
            for (int i = 0; i < QUEUES; i++) {
                unread.add(new TestQueue(other, TestQueue.open(session.token(), REFUSED, List.of()), 1));
                unread.getLast().credits();
                unread.getLast().post(refused());
            }

            Object ended = Waiting.join(CompletableFuture.anyOf(
                    unread.stream().map(TestQueue::failed).toArray(CompletableFuture[]::new)));

            Status status = Status.fromThrowable((Throwable) ended);
            assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(status.getDescription())
                    .contains("sidewarp.limits.answer-octets", "the limit is " + MIB, "raise the setting");
            unread.forEach(TestQueue::close);
            // As many as would have been too many at a time.
            for (int i = 0; i < QUEUES; i++) {
                await().ignoreExceptions().until(() -> completionsOfRefused(other) == REFUSED);
            }
        } finally {
            TestSidecar.close(other);
        }
    }

    /** What comes back when all of it is read. */
    private int completionsOfRefused(ManagedChannel channel) {
        try (TestQueue queue =
                new TestQueue(channel, TestQueue.open(session.token(), REFUSED, List.of()), Integer.MAX_VALUE)) {
            queue.credits();
            queue.post(refused());
            return queue.next(REFUSED).size();
        }
    }

    /** Work without a connection, whose refusals have 64 KiB. */
    private static List<WorkRequest> refused() {
        return Collections.nCopies(REFUSED, WorkRequest.getDefaultInstance());
    }

    @Test
    void anAnswerThatWasReadHoldsNothing() {
        ListRegionsRequest request = ListRegionsRequest.getDefaultInstance();
        assertThat(session.memory().listRegions(request).getRegionsCount()).isEqualTo(REGIONS);

        // The sidecar hears of it behind the answer.
        await().ignoreExceptions()
                .until(() -> session.memory().listRegions(request).getRegionsCount() == REGIONS);
    }
}
