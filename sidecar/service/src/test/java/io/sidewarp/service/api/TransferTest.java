// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.remote;
import static io.sidewarp.service.testing.Works.sge;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.FetchAddWork;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.ReadRequest;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.ReceiveResponse;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.SendRequest;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteRequest;
import io.sidewarp.v1.WriteWork;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests the simple calls over two sidecars. */
class TransferTest extends TwoSidecars {

    private static final int SIZE = 1 << 20;

    @Test
    void whatIsWrittenArrivesAndCanBeReadBack() {
        byte[] data = random(SIZE);
        Region source = client.managed(SIZE);
        Region sink = client.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        Region target = server.managed(SIZE, Access.ACCESS_REMOTE_WRITE, Access.ACCESS_REMOTE_READ);
        client.store(source.getId(), 0, data, 100_000);
        long connection = client.connectTo(server).here().getId();

        WorkCompletion written = client.transfer()
                .write(write(connection, source, 0, SIZE, target, 0))
                .getCompletion();
        WorkCompletion read = client.transfer()
                .read(read(connection, sink, 0, SIZE, target, 0))
                .getCompletion();

        assertThat(written.getOpcode()).isEqualTo(Opcode.OPCODE_WRITE);
        assertThat(written.getLength()).isEqualTo(SIZE);
        assertThat(read.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
        assertThat(server.load(target.getId(), 0, 0)).isEqualTo(data);
        assertThat(client.load(sink.getId(), 0, 0)).isEqualTo(data);
    }

    @Test
    void aMessageFillsTheReceiveOfThePeer() throws Exception {
        Region source = client.managed(64);
        Region target = server.managed(64, Access.ACCESS_LOCAL_WRITE);
        client.store(source.getId(), 0, "hello".getBytes(StandardCharsets.UTF_8), 64);
        TestSession.Pair pair = client.connectTo(server);
        Future<ReceiveResponse> receiving = postReceive(pair.there(), target);

        client.transfer().send(send(pair.here().getId(), source, 5));
        WorkCompletion received = receiving.get(20, TimeUnit.SECONDS).getCompletion();

        assertThat(received.getId()).isEqualTo(5);
        assertThat(received.getOpcode()).isEqualTo(Opcode.OPCODE_RECEIVE);
        assertThat(received.getLength()).isEqualTo(5);
        assertThat(received.getSolicited()).isTrue();
        assertThat(server.load(target.getId(), 0, 5)).isEqualTo("hello".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aReceiveWithWorkWaitsForTheNextMessage() throws Exception {
        Region source = client.managed(64);
        Region target = server.managed(64, Access.ACCESS_LOCAL_WRITE);
        TestSession.Pair pair = client.connectTo(server);
        Future<ReceiveResponse> receiving = postReceive(pair.there(), target);

        client.transfer().send(send(pair.here().getId(), source, 9));

        assertThat(receiving.get(20, TimeUnit.SECONDS).getCompletion().getLength())
                .isEqualTo(9);
    }

    @Test
    void aReceiveWhoseCallerLeftTakesAMessageAllTheSame() throws Exception {
        Region source = client.managed(64);
        Region target = server.managed(64, Access.ACCESS_LOCAL_WRITE);
        TestSession.Pair pair = client.connectTo(server);
        Future<ReceiveResponse> left = postReceive(pair.there(), target);
        left.cancel(true);
        Future<ReceiveResponse> receiving = postReceive(pair.there(), target);

        client.transfer().send(send(pair.here().getId(), source, 9));
        client.transfer().send(send(pair.here().getId(), source, 10));

        assertThat(receiving.get(20, TimeUnit.SECONDS).getCompletion().getLength())
                .isEqualTo(10);
    }

    private Future<ReceiveResponse> postReceive(Connection connection, Region target) {
        Future<ReceiveResponse> receiving = TransferServiceGrpc.newFutureStub(server.channel())
                .receive(ReceiveRequest.newBuilder()
                        .setSession(server.token())
                        .setConnection(connection.getId())
                        .setWork(ReceiveWork.newBuilder().setId(5).addLocal(sge(target, 0, 64)))
                        .build());
        // Calls of one channel are handled in order, so that the receive is posted when this one returns.
        server.device().getDevice(GetDeviceRequest.getDefaultInstance());
        return receiving;
    }

    @Test
    void aReceiveWithoutWorkIsRefused() {
        TestSession.Pair pair = client.connectTo(server);

        Status status = Waiting.status(() -> server.transfer()
                .receive(ReceiveRequest.newBuilder()
                        .setSession(server.token())
                        .setConnection(pair.there().getId())
                        .build()));

        assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(status.getDescription()).startsWith("work is not set");
    }

    @Test
    void anAccessErrorOfThePeerComesWithTheNumbersOfTheTerminate() {
        Region source = client.managed(64);
        Region target = server.managed(64, Access.ACCESS_REMOTE_WRITE);
        TestSession.Pair pair = client.connectTo(server);
        long connection = pair.here().getId();

        StatusRuntimeException failure = Waiting.failure(() -> client.transfer()
                .read(read(connection, client.managed(64, Access.ACCESS_LOCAL_WRITE), 0, 64, target, 0)));
        RdmaError error = Waiting.detail(failure, RdmaError.class);

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(error.getLayer()).isZero();
        assertThat(error.getType()).isEqualTo(1);
        assertThat(error.getCode()).isEqualTo(2);
        assertThat(error.getRemote()).isTrue();
        assertThat(source.getLength()).isEqualTo(64);
    }

    @Test
    void aWriteOutsideOfTheLocalRegionNamesTheRegionAndItsLength() {
        Region source = client.managed(64);
        Region target = server.managed(64, Access.ACCESS_REMOTE_WRITE);
        long connection = client.connectTo(server).here().getId();

        Status status = Waiting.status(() -> client.transfer().write(write(connection, source, 60, 5, target, 0)));

        assertThat(status.getCode()).isEqualTo(Status.Code.OUT_OF_RANGE);
        assertThat(status.getDescription()).contains("region " + source.getId()).contains("64 bytes");
    }

    @Test
    void aReadIntoARegionWithoutLocalWriteIsRefused() {
        Region sink = client.managed(64);
        Region target = server.managed(64, Access.ACCESS_REMOTE_READ);
        long connection = client.connectTo(server).here().getId();

        Status status = Waiting.status(() -> client.transfer().read(read(connection, sink, 0, 64, target, 0)));

        assertThat(status.getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(status.getDescription()).contains("ACCESS_LOCAL_WRITE");
    }

    @Test
    void aCallWithoutWorkIsRefusedAndSendsNothing() {
        long connection = client.connectTo(server).here().getId();
        WriteRequest.Builder write =
                WriteRequest.newBuilder().setSession(client.token()).setConnection(connection);
        ReadRequest.Builder read =
                ReadRequest.newBuilder().setSession(client.token()).setConnection(connection);
        SendRequest.Builder send =
                SendRequest.newBuilder().setSession(client.token()).setConnection(connection);

        assertThat(List.of(
                        Waiting.status(() -> client.transfer().write(write.build())),
                        Waiting.status(() -> client.transfer().read(read.build())),
                        Waiting.status(() -> client.transfer().send(send.build()))))
                .allSatisfy(status -> {
                    assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
                    assertThat(status.getDescription()).contains("work is not set");
                });
        assertThat(client.listConnections().get(0).getCounters().getSegmentsSent())
                .isZero();
    }

    @Test
    void workThatNamesNoMemoryOfThePeerIsRefusedAndTheConnectionGoesOn() {
        Region region = client.managed(64, Access.ACCESS_LOCAL_WRITE);
        Region target = server.managed(64, Access.ACCESS_REMOTE_WRITE);
        long connection = client.connectTo(server).here().getId();
        WriteWork write = WriteWork.newBuilder().addLocal(sge(region, 0, 8)).build();
        ReadWork read = ReadWork.newBuilder().addLocal(sge(region, 0, 8)).build();
        WriteRequest call = write(connection, region, 0, 8, target, 0);

        assertThat(List.of(
                        Waiting.status(() -> client.transfer()
                                .write(call.toBuilder().setWork(write).build())),
                        perform(connection, work -> work.setWrite(write)),
                        perform(connection, work -> work.setRead(read)),
                        perform(connection, work -> work.setFetchAdd(FetchAddWork.newBuilder()))))
                .allSatisfy(status -> {
                    assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
                    assertThat(status.getDescription()).contains("remote is not set");
                });
        assertThat(client.transfer().write(call).getCompletion().getLength()).isEqualTo(8);
    }

    @Test
    void aWriteOfNoOctetsNeedsNoMemoryOfThePeer() {
        long connection = client.connectTo(server).here().getId();

        WorkCompletion written = client.transfer()
                .write(WriteRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection)
                        .setWork(WriteWork.getDefaultInstance())
                        .build())
                .getCompletion();

        assertThat(written.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
    }

    @Test
    void workOnAConnectionThatEndedSaysHowItEnded() {
        Region source = client.managed(64);
        Region target = server.managed(64, Access.ACCESS_REMOTE_WRITE);
        long connection = client.connectTo(server).here().getId();
        client.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection)
                        .build());

        Status status = Waiting.status(() -> client.transfer().write(write(connection, source, 0, 5, target, 0)));

        assertThat(status.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(status.getDescription())
                .isEqualTo("connection " + connection + " has ended: closed by this side; connect again");
    }

    @Test
    void workOnAnUnknownConnectionIsNotFound() {
        Region source = client.managed(64);

        Status status = Waiting.status(() -> client.transfer().write(write(4711, source, 0, 5, source, 0)));

        assertThat(status.getCode()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(status.getDescription()).contains("connection 4711");
    }

    private Status perform(long connection, UnaryOperator<WorkRequest.Builder> work) {
        return Waiting.status(() -> client.transfer()
                .perform(PerformRequest.newBuilder()
                        .setSession(client.token())
                        .setWork(work.apply(WorkRequest.newBuilder().setConnection(connection)))
                        .build()));
    }

    private WriteRequest write(long connection, Region from, long offset, long length, Region to, long at) {
        return WriteRequest.newBuilder()
                .setSession(client.token())
                .setConnection(connection)
                .setWork(WriteWork.newBuilder()
                        .addLocal(sge(from, offset, length))
                        .setRemote(remote(to, at)))
                .build();
    }

    private ReadRequest read(long connection, Region to, long offset, long length, Region from, long at) {
        return ReadRequest.newBuilder()
                .setSession(client.token())
                .setConnection(connection)
                .setWork(ReadWork.newBuilder().addLocal(sge(to, offset, length)).setRemote(remote(from, at)))
                .build();
    }

    private SendRequest send(long connection, Region from, long length) {
        return SendRequest.newBuilder()
                .setSession(client.token())
                .setConnection(connection)
                .setWork(SendWork.newBuilder().addLocal(sge(from, 0, length)).setSolicited(true))
                .build();
    }

    static byte[] random(int length) {
        byte[] data = new byte[length];
        new Random(length).nextBytes(data);
        return data;
    }
}
