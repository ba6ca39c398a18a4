// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.rpc.Status;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.StreamObserver;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.sidewarp.v1.CloseSessionRequest;
import io.sidewarp.v1.CloseSessionResponse;
import io.sidewarp.v1.DeviceInfo;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.GetDeviceResponse;
import io.sidewarp.v1.Limits;
import io.sidewarp.v1.OpenSessionRequest;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.SessionOpened;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A server on a Unix socket that implements the part of the contract that the client's tests need. Tests control its
 * answers.
 */
final class FakeSidecar implements AutoCloseable {

    final Path socket;
    final Path volume;
    final FakeMemory memory;
    final FakeConnections connections = new FakeConnections();
    final FakeTransfer transfer = new FakeTransfer();
    final FakeSharedReceives sharedReceives = new FakeSharedReceives();
    final FakeRings rings;
    final HealthStatusManager health = new HealthStatusManager();

    /** Sessions in the order in which they were opened. */
    final BlockingQueue<StreamObserver<OpenSessionResponse>> sessions = new LinkedBlockingQueue<>();

    /** When set, GetDevice runs it and does not answer. */
    volatile @Nullable Runnable insteadOfDevice;

    final List<String> sessionsThatEnded = new CopyOnWriteArrayList<>();
    final List<Metadata> headers = new CopyOnWriteArrayList<>();

    private final EventLoopGroup group = new EpollEventLoopGroup(1);
    private final Server server;

    FakeSidecar(Path directory) throws IOException {
        socket = directory.resolve("api.sock");
        volume = Files.createDirectories(directory.resolve("shared"));
        memory = new FakeMemory(volume);
        rings = new FakeRings(socket, volume);
        server = NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toString()))
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .channelType(EpollServerDomainSocketChannel.class)
                .withChildOption(ChannelOption.SO_KEEPALIVE, null)
                .intercept(new HeaderRecorder())
                .addService(new DeviceService())
                .addService(memory)
                .addService(connections)
                .addService(transfer)
                .addService(sharedReceives)
                .addService(rings)
                .addService(health.getHealthService())
                .build()
                .start();
    }

    ClientOptions options() {
        return ClientOptions.defaults().withTarget("unix://" + socket).withSharedVolume(volume);
    }

    SidewarpClient client() {
        return SidewarpClient.connect(options());
    }

    /** The next session that a client opened; fails when none comes. */
    StreamObserver<OpenSessionResponse> nextSession() throws InterruptedException {
        return next(sessions);
    }

    static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T element = queue.poll(20, TimeUnit.SECONDS);
        if (element == null) {
            throw new AssertionError("the client did not send what was expected");
        }
        return element;
    }

    /** A status with a typed detail, as the sidecar makes it. */
    static StatusRuntimeException error(io.grpc.Status status, Message detail) {
        return StatusProto.toStatusRuntimeException(Status.newBuilder()
                .setCode(status.getCode().value())
                .setMessage(status.getDescription() == null ? "" : status.getDescription())
                .addDetails(Any.newBuilder()
                        .setTypeUrl("type.example/unknown")
                        .setValue(ByteString.copyFromUtf8("ignored")))
                .addDetails(Any.pack(detail))
                .build());
    }

    @Override
    public void close() {
        rings.close();
        server.shutdownNow();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private final class DeviceService extends DeviceServiceGrpc.DeviceServiceImplBase {

        @Override
        public void getDevice(GetDeviceRequest request, StreamObserver<GetDeviceResponse> response) {
            Runnable instead = insteadOfDevice;
            if (instead != null) {
                instead.run();
                return;
            }
            response.onNext(GetDeviceResponse.newBuilder()
                    .setDevice(DeviceInfo.newBuilder()
                            .setProvider("fake")
                            .setSharedVolume(volume.toString())
                            .setPageSize(4096))
                    .build());
            response.onCompleted();
        }

        @Override
        public void openSession(OpenSessionRequest request, StreamObserver<OpenSessionResponse> response) {
            ((io.grpc.stub.ServerCallStreamObserver<OpenSessionResponse>) response)
                    .setOnCancelHandler(() -> sessionsThatEnded.add(request.getName()));
            response.onNext(OpenSessionResponse.newBuilder()
                    .setOpened(SessionOpened.newBuilder()
                            .setSession("secret-of-" + request.getName())
                            .setDefaultProtectionDomain(7)
                            .setLimits(Limits.newBuilder().setMaxRegions(9)))
                    .build());
            sessions.add(response);
        }

        @Override
        public void closeSession(CloseSessionRequest request, StreamObserver<CloseSessionResponse> response) {
            response.onNext(CloseSessionResponse.getDefaultInstance());
            response.onCompleted();
        }
    }

    private final class HeaderRecorder implements ServerInterceptor {

        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata metadata, ServerCallHandler<Q, R> next) {
            headers.add(metadata);
            return next.startCall(call, metadata);
        }
    }
}
