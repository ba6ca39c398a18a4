// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.grpc.Status;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the selection of a queue's path, and the error if the requested path is impossible. */
class QueuePathTest extends RingQueueFixture {

    private static final QueueOptions ANY = QueueOptions.defaults();

    @Test
    void anyPathIsRingsWhereTheyArePossible() {
        assertThat(session.openQueue(ANY).path()).isEqualTo(QueuePath.RINGS);
    }

    @Test
    void grpcIsUsedWhenItIsAskedFor() {
        assertThat(session.openQueue(ANY.withPath(QueuePath.GRPC)).path()).isEqualTo(QueuePath.GRPC);
        assertThat(sidecar.rings.created).isEmpty();
    }

    @Test
    void ringsAreUsedWhenTheCallerNamesNoPath() {
        assertThat(session.openQueue(4).path()).isEqualTo(QueuePath.RINGS);
    }

    @Test
    void anyPathIsGrpcWhereTheSidecarHasNoRings() {
        for (Status.Code code : List.of(Status.Code.UNIMPLEMENTED, Status.Code.FAILED_PRECONDITION)) {
            sidecar.rings.refusal = code.toStatus();

            assertThat(session.openQueue(ANY).path()).isEqualTo(QueuePath.GRPC);
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(this::open)
                    .satisfies(failure -> assertThat(failure.code()).isEqualTo(code));
        }
    }

    @Test
    void anyPathIsGrpcWhereThereIsNoSpaceForRings() {
        sidecar.rings.refusal = Status.RESOURCE_EXHAUSTED.withDescription("the shared volume is full");

        assertThat(session.openQueue(ANY).path()).isEqualTo(QueuePath.GRPC);
        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> session.openQueue(RINGS))
                .withMessageContaining("the shared volume is full");
    }

    @Test
    void otherFailuresAreTold() {
        sidecar.rings.refusal = Status.PERMISSION_DENIED.withDescription("another user's session");

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> session.openQueue(ANY))
                .withMessageContaining("another user's session");
    }

    @Test
    void anyPathIsGrpcWithoutTheSharedVolume() {
        ClientOptions options = sidecar.options().withSharedVolume(directory.resolve("nowhere"));
        try (SidewarpClient elsewhere = SidewarpClient.connect(options);
                Session other = elsewhere.openSession("other")) {

            assertThat(other.openQueue(ANY).path()).isEqualTo(QueuePath.GRPC);
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> other.openQueue(RINGS))
                    .withMessageContaining("nowhere")
                    .withMessageContaining("set SIDEWARP_VOLUME");
            assertThat(sidecar.rings.created).isEmpty();
        }
    }

    @Test
    void filesOfAnotherVolumeEndInGrpc() throws Exception {
        ClientOptions options = sidecar.options().withSharedVolume(Files.createDirectories(directory.resolve("other")));
        try (SidewarpClient elsewhere = SidewarpClient.connect(options);
                Session other = elsewhere.openSession("other")) {

            assertThat(other.openQueue(ANY).path()).isEqualTo(QueuePath.GRPC);
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> other.openQueue(RINGS))
                    .withMessageContaining("not mounted in this process");
        }
        assertThat(FakeSidecar.next(sidecar.rings.destroyed))
                .isEqualTo(FakeSidecar.next(sidecar.rings.created).id());
    }

    @Test
    void refusedTokenIsTold() throws Exception {
        sidecar.rings.refusedHello = "the token was used before";

        assertThatExceptionOfType(SidewarpException.class)
                .isThrownBy(() -> session.openQueue(ANY))
                .withMessageContaining("the token was used before")
                .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.UNAUTHENTICATED));
        assertThat(FakeSidecar.next(sidecar.rings.destroyed))
                .isEqualTo(FakeSidecar.next(sidecar.rings.created).id());
    }

    @Test
    void takerIsServedOverGrpcToo() throws Exception {
        WorkQueue queue = session.openQueue(ANY.withPath(QueuePath.GRPC));
        FakeTransfer.FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
        List<Long> taken = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            queue.post(i, write);
            server.succeed(server.nextWork());
        }

        assertThat(queue.poll(view -> taken.add(view.id()), 1, LONG)).isOne();
        while (taken.size() < 3) {
            queue.poll(
                    view -> {
                        taken.add(view.id());
                        assertThat(view.isSuccess()).isTrue();
                        assertThat(view.opcode()).isEqualTo(view.toCompletion().opcode());
                        assertThat(view.status()).isEqualTo(CompletionStatus.SUCCESS);
                        assertThat(view.connection()).isEqualTo(connection.id());
                    },
                    5,
                    LONG);
        }

        assertThat(taken).containsExactly(0L, 1L, 2L);
        assertThat(queue.poll(view -> {}, 5, Duration.ZERO)).isZero();
    }

    @Test
    void optionsAreChecked() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ANY.withOutstanding(-1))
                .withMessageContaining("outstanding is -1");
        assertThat(ANY).isEqualTo(new QueueOptions(0, QueuePath.ANY, WaitStrategy.ADAPTIVE));
        assertThat(ANY.withWaitStrategy(WaitStrategy.SPIN).waitStrategy()).isEqualTo(WaitStrategy.SPIN);
    }
}
