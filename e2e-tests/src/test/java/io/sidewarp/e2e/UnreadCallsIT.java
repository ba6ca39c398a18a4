// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.unix.DomainSocketAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.OpenSessionRequest;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests one user who opens nearly all permitted calls and reads nothing. The sidecar has a quarter of the usual heap.
 */
@ExtendWith(Logs.class)
class UnreadCallsIT {

    private static final int CONNECTIONS = 2;
    private static final int CALLS = 1250;

    /** Each message has its own answer. The client takes only the first few answers. */
    private static final int MESSAGES = 150;

    private static final int WINDOW = 1024;

    @Test
    void callsWhoseAnswersNobodyReadsLeaveTheSidecarItsHeap() {
        EpollEventLoopGroup group = new EpollEventLoopGroup(1);
        List<ManagedChannel> channels = new ArrayList<>();
        try (SidecarProcess sidecar =
                SidecarProcess.with("unread").jvmFlags(List.of("-Xmx64m")).start()) {
            for (int i = 0; i < CONNECTIONS; i++) {
                channels.add(NettyChannelBuilder.forAddress(
                                new DomainSocketAddress(sidecar.socket().toFile()))
                        .channelType(EpollDomainSocketChannel.class)
                        .eventLoopGroup(group)
                        .flowControlWindow(WINDOW)
                        .usePlaintext()
                        .build());
            }
            String session = DeviceServiceGrpc.newBlockingStub(channels.getFirst())
                    .openSession(OpenSessionRequest.getDefaultInstance())
                    .next()
                    .getOpened()
                    .getSession();
            for (ManagedChannel channel : channels) {
                for (int i = 0; i < CALLS; i++) {
                    post(channel, session);
                }
            }
            for (ManagedChannel channel : channels) {
                // Answered behind all of them.
                assertThat(DeviceServiceGrpc.newBlockingStub(channel)
                                .getDevice(GetDeviceRequest.getDefaultInstance())
                                .hasDevice())
                        .isTrue();
            }
            channels.forEach(ManagedChannel::shutdownNow);

            try (SidewarpClient client = sidecar.client()) {
                Patience.await("a session of its own").ignoreExceptions().until(() -> {
                    try (Session other = client.openSession("other")) {
                        return other.registerManaged(4096) != null;
                    }
                });
            }
            assertThat(sidecar.process().isAlive()).isTrue();
        } finally {
            channels.forEach(ManagedChannel::shutdownNow);
            group.shutdownGracefully();
        }
    }

    /** Begins a call, and posts work that is refused. */
    private static void post(ManagedChannel channel, String session) {
        ClientCall<QueueRequest, QueueResponse> call =
                channel.newCall(TransferServiceGrpc.getQueueMethod(), CallOptions.DEFAULT);
        CompletableFuture<Metadata> begun = new CompletableFuture<>();
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onHeaders(Metadata headers) {
                        begun.complete(headers);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        begun.completeExceptionally(status.asRuntimeException());
                    }
                },
                new Metadata());
        call.sendMessage(QueueRequest.newBuilder()
                .setOpen(QueueOpen.newBuilder().setSession(session))
                .build());
        Patience.get(begun);
        QueueRequest refused = QueueRequest.newBuilder()
                .setPost(QueuePost.newBuilder().addWork(WorkRequest.getDefaultInstance()))
                .build();
        for (int i = 0; i < MESSAGES; i++) {
            call.sendMessage(refused);
        }
    }
}
