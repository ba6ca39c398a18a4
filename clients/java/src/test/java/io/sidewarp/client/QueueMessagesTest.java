// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_REMOTE_ACCESS_ERROR;
import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.google.protobuf.UnknownFieldSet;
import io.sidewarp.v1.CompareSwapWork;
import io.sidewarp.v1.FetchAddWork;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.QueueCompletions;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.WriteWork;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests the conversion between the messages of a queue and the client's own types. */
class QueueMessagesTest {

    private static final io.sidewarp.v1.Sge SGE = io.sidewarp.v1.Sge.newBuilder()
            .setRegion(5)
            .setOffset(4096)
            .setLength(1L << 32)
            .build();

    private static final io.sidewarp.v1.RemoteAddress REMOTE = io.sidewarp.v1.RemoteAddress.newBuilder()
            .setStag(0xDEADBEEF)
            .setTaggedOffset(-2)
            .build();

    private final Connection connection = TestConnections.connection(300);
    private final Sge sge = new Sge(5, 4096, 1L << 32);
    private final RemoteAddress remote = new RemoteAddress(0xDEADBEEF, -2);

    @Test
    void messageHoldsTheRequestsInTheOrderOfPosting() {
        PostedWork posted = new PostedWork();
        posted.add(WorkRequest.write(connection, remote, sge, sge).toProto(0, true));
        posted.add(WorkRequest.read(connection, remote, sge).fenced().toProto(127, true));
        posted.add(
                WorkRequest.send(connection, sge).solicited().invalidating(-1).toProto(128, true));
        posted.add(WorkRequest.receive(connection, sge).toProto(1 << 20, true));

        QueuePost post = next(posted).getPost();

        assertThat(posted.next()).isNull();
        assertThat(post)
                .isEqualTo(QueuePost.newBuilder()
                        .addWork(work(0).setWrite(WriteWork.newBuilder()
                                .addLocal(SGE)
                                .addLocal(SGE)
                                .setRemote(REMOTE)))
                        .addWork(work(127)
                                .setFence(true)
                                .setRead(ReadWork.newBuilder().addLocal(SGE).setRemote(REMOTE)))
                        .addWork(work(128)
                                .setSend(SendWork.newBuilder()
                                        .addLocal(SGE)
                                        .setSolicited(true)
                                        .setInvalidateStag(-1)))
                        .addWork(work(1 << 20)
                                .setReceive(ReceiveWork.newBuilder().addLocal(SGE)))
                        .build());
    }

    @Test
    void requestsOfTheExtensionsAndOfLocalWorkSayWhatTheyAreAskedFor() {
        Sge word = new Sge(5, 8, 8);

        assertThat(WorkRequest.write(connection, remote)
                        .withImmediate(-3)
                        .solicited()
                        .toProto()
                        .getWrite())
                .isEqualTo(WriteWork.newBuilder()
                        .setRemote(REMOTE)
                        .setImmediate(-3)
                        .setSolicited(true)
                        .build());
        assertThat(WorkRequest.immediate(connection, 7).toProto().getImmediate().getData())
                .isEqualTo(7);
        assertThat(WorkRequest.fetchAdd(connection, remote, 2, 0x80)
                        .into(word)
                        .toProto()
                        .getFetchAdd())
                .isEqualTo(FetchAddWork.newBuilder()
                        .addLocal(Protos.sge(word))
                        .setRemote(REMOTE)
                        .setAdd(2)
                        .setMask(0x80)
                        .build());
        assertThat(WorkRequest.compareSwap(connection, remote, 1, 2).toProto().getCompareSwap())
                .isEqualTo(CompareSwapWork.newBuilder()
                        .setRemote(REMOTE)
                        .setCompare(1)
                        .setCompareMask(-1)
                        .setSwap(2)
                        .setSwapMask(-1)
                        .build());
        assertThat(WorkRequest.send(connection).fencedLocally().toProto().getLocalFence())
                .isTrue();
    }

    @Test
    void whatDoesNotFitARequestIsRefused() {
        assertThatIllegalStateException()
                .isThrownBy(() -> WorkRequest.send(connection).withImmediate(1));
        assertThatIllegalStateException()
                .isThrownBy(() -> WorkRequest.read(connection, remote, sge).into(sge));
        assertThatIllegalStateException()
                .isThrownBy(() -> WorkRequest.write(connection, remote).solicited());
    }

    @Test
    void unsignaledRequestCanBeSentSignaled() {
        WorkRequest request = WorkRequest.send(connection).unsignaled();

        assertThat(request.toProto(1, false).getUnsignaled()).isTrue();
        assertThat(request.toProto(2, true).getUnsignaled()).isFalse();
    }

    @Test
    void messagesOfManyAndOfLargeRequestsAreWithinTheLimitOfARequest() {
        Sge far = new Sge(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);
        PostedWork posted = new PostedWork();
        for (int id = 0; id < 1000; id++) {
            posted.add(WorkRequest.send(connection, sge).toProto(id, true));
        }
        Sge[] largest = Collections.nCopies(1024, far).toArray(Sge[]::new);
        for (int id = 1000; id < 1100; id++) {
            posted.add(WorkRequest.send(connection, largest).toProto(id, true));
        }

        List<Long> ids = new ArrayList<>();
        while (!posted.isEmpty()) {
            QueueRequest message = next(posted);
            assertThat(message.getSerializedSize()).isLessThan(256 << 10);
            message.getPost().getWorkList().forEach(work -> ids.add(work.getId()));
        }

        assertThat(ids).isEqualTo(LongStream.range(0, 1100).boxed().toList());
    }

    @Test
    void requestOfMoreElementsThanAMessageHasRoomForIsRefused() {
        Sge[] many = Collections.nCopies(1025, sge).toArray(Sge[]::new);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> WorkRequest.send(connection, many))
                .withMessageContaining("1025 elements; at most 1024");
    }

    private static QueueRequest next(PostedWork posted) {
        return Objects.requireNonNull(posted.next());
    }

    @Test
    void onlySendsCanBeSolicited() {
        assertThatIllegalStateException()
                .isThrownBy(() -> WorkRequest.receive(connection, sge).solicited());
    }

    @Test
    void allFieldsOfCompletionsAreRead() {
        RdmaError error = RdmaError.newBuilder()
                .setLayer(1)
                .setType(1)
                .setCode(1)
                .setName("Base or bounds violation")
                .setRemote(true)
                .build();
        QueueResponse response = QueueResponse.newBuilder()
                .setCompletions(QueueCompletions.newBuilder()
                        .addCompletions(io.sidewarp.v1.WorkCompletion.newBuilder()
                                .setId(3)
                                .setConnection(300)
                                .setOpcode(Opcode.OPCODE_RECEIVE)
                                .setStatus(COMPLETION_STATUS_SUCCESS)
                                .setLength(0xFFFFFFFFL)
                                .setSolicited(true)
                                .setInvalidatedStag(0))
                        .addCompletions(io.sidewarp.v1.WorkCompletion.newBuilder()
                                .setId(4)
                                .setOpcode(Opcode.OPCODE_WRITE)
                                .setStatus(COMPLETION_STATUS_REMOTE_ACCESS_ERROR)
                                .setError(error)
                                .setMessage("müßig")))
                .build();

        List<WorkCompletion> completions = read(response);

        assertThat(completions).hasSize(2);
        WorkCompletion receive = completions.getFirst();
        assertThat(receive.id()).isEqualTo(1003);
        assertThat(receive.connection()).isEqualTo(300);
        assertThat(receive.opcode()).isEqualTo(io.sidewarp.client.Opcode.RECEIVE);
        assertThat(receive.isSuccess()).isTrue();
        assertThat(receive.length()).isEqualTo(0xFFFFFFFFL);
        assertThat(receive.solicited()).isTrue();
        assertThat(receive.invalidatedStag()).isEqualTo(OptionalInt.of(0));
        assertThat(receive.error()).isEmpty();
        WorkCompletion write = completions.getLast();
        assertThat(write.status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(write.invalidatedStag()).isEmpty();
        assertThat(write.error()).contains(new RdmaErrorInfo(1, 1, 1, "Base or bounds violation", true));
        assertThat(write.message()).isEqualTo("müßig");
    }

    @Test
    void immediateDataAndOriginalValuesAreRead() {
        QueueResponse response = QueueResponse.newBuilder()
                .setCompletions(QueueCompletions.newBuilder()
                        .addCompletions(io.sidewarp.v1.WorkCompletion.newBuilder()
                                .setOpcode(Opcode.OPCODE_RECEIVE)
                                .setImmediate(0))
                        .addCompletions(io.sidewarp.v1.WorkCompletion.newBuilder()
                                .setOpcode(Opcode.OPCODE_COMPARE_SWAP)
                                .setOriginal(-5)))
                .build();

        List<WorkCompletion> completions = read(response);

        assertThat(completions.getFirst().immediate()).hasValue(0);
        assertThat(completions.getFirst().original()).isEmpty();
        assertThat(completions.getLast().original()).hasValue(-5);
        assertThat(completions.getLast().immediate()).isEmpty();
        assertThat(completions.getLast().opcode()).isEqualTo(io.sidewarp.client.Opcode.COMPARE_SWAP);
    }

    @Test
    void fieldsAndValuesOfNewerSidecarsAreNoObstacle() {
        UnknownFieldSet future = UnknownFieldSet.newBuilder()
                .addField(
                        99,
                        UnknownFieldSet.Field.newBuilder()
                                .addVarint(1)
                                .addFixed64(2)
                                .build())
                .build();
        QueueResponse response = QueueResponse.newBuilder()
                .setUnknownFields(future)
                .setCompletions(QueueCompletions.newBuilder()
                        .setUnknownFields(future)
                        .addCompletions(io.sidewarp.v1.WorkCompletion.newBuilder()
                                .setOpcodeValue(77)
                                .setStatusValue(78)
                                .setUnknownFields(future)))
                .build();

        WorkCompletion completion = read(response).getFirst();

        assertThat(completion.opcode()).isEqualTo(io.sidewarp.client.Opcode.UNKNOWN);
        assertThat(completion.status()).isEqualTo(CompletionStatus.UNKNOWN);
        assertThat(completion.isSuccess()).isFalse();
    }

    private static io.sidewarp.v1.WorkRequest.Builder work(long id) {
        return io.sidewarp.v1.WorkRequest.newBuilder().setId(id).setConnection(300);
    }

    private static List<WorkCompletion> read(QueueResponse response) {
        return response.getCompletions().getCompletionsList().stream()
                .map(completion -> Protos.completion(completion, 1000 + completion.getId()))
                .toList();
    }
}
