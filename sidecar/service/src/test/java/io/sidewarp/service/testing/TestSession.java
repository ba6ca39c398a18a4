// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import com.google.protobuf.ByteString;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.CreateConnectionRequest;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.ListConnectionsRequest;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.LoadRequest;
import io.sidewarp.v1.LoadResponse;
import io.sidewarp.v1.ManagedBacking;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.OpenSessionRequest;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.SharedBacking;
import io.sidewarp.v1.SharedReceiveQueueServiceGrpc;
import io.sidewarp.v1.StoreHeader;
import io.sidewarp.v1.StoreRequest;
import io.sidewarp.v1.StoreResponse;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WorkRequest;
import java.io.ByteArrayOutputStream;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A client with one session, on the plain stubs. */
public final class TestSession implements AutoCloseable {

    private static final long SECONDS = 20;

    private final ManagedChannel channel;
    private final BlockingQueue<OpenSessionResponse> events = new LinkedBlockingQueue<>();
    private final CompletableFuture<Throwable> ended = new CompletableFuture<>();
    private final String token;
    private final OpenSessionResponse opened;

    TestSession(ManagedChannel channel, String name) {
        this.channel = channel;
        DeviceServiceGrpc.newStub(channel)
                .openSession(OpenSessionRequest.newBuilder().setName(name).build(), new StreamObserver<>() {
                    @Override
                    public void onNext(OpenSessionResponse response) {
                        events.add(response);
                    }

                    @Override
                    public void onError(Throwable failure) {
                        ended.complete(failure);
                    }

                    @Override
                    public void onCompleted() {
                        ended.complete(new IllegalStateException("completed"));
                    }
                });
        opened = nextEvent();
        token = opened.getOpened().getSession();
    }

    public ManagedChannel channel() {
        return channel;
    }

    public String token() {
        return token;
    }

    public OpenSessionResponse opened() {
        return opened;
    }

    /** The next event of the session. */
    public OpenSessionResponse nextEvent() {
        return take(events);
    }

    /** Complete when the sidecar ended the session. */
    public CompletableFuture<Throwable> ended() {
        return ended;
    }

    public DeviceServiceGrpc.DeviceServiceBlockingStub device() {
        return DeviceServiceGrpc.newBlockingStub(channel).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
    }

    public MemoryServiceGrpc.MemoryServiceBlockingStub memory() {
        return MemoryServiceGrpc.newBlockingStub(channel).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
    }

    public ConnectionServiceGrpc.ConnectionServiceBlockingStub connections() {
        return ConnectionServiceGrpc.newBlockingStub(channel).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
    }

    public SharedReceiveQueueServiceGrpc.SharedReceiveQueueServiceBlockingStub sharedReceives() {
        return SharedReceiveQueueServiceGrpc.newBlockingStub(channel).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
    }

    public TransferServiceGrpc.TransferServiceBlockingStub transfer() {
        return TransferServiceGrpc.newBlockingStub(channel).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
    }

    /** Registers managed memory. */
    public Region managed(long length, Access... access) {
        return memory().registerRegion(RegisterRegionRequest.newBuilder()
                        .setSession(token)
                        .addAllAccess(List.of(access))
                        .setManaged(ManagedBacking.newBuilder().setLength(length))
                        .build())
                .getRegion();
    }

    /** Creates and registers a file of the shared volume. */
    public Region shared(String path, long length, Access... access) {
        return memory().registerRegion(RegisterRegionRequest.newBuilder()
                        .setSession(token)
                        .addAllAccess(List.of(access))
                        .setShared(SharedBacking.newBuilder()
                                .setPath(path)
                                .setLength(length)
                                .setCreate(true))
                        .build())
                .getRegion();
    }

    /** Fills a managed region in pieces. */
    public long store(long region, long offset, byte[] data, int piece) {
        CompletableFuture<Long> stored = new CompletableFuture<>();
        StreamObserver<StoreRequest> call = MemoryServiceGrpc.newStub(channel).store(new StreamObserver<>() {
            @Override
            public void onNext(StoreResponse response) {
                stored.complete(response.getLength());
            }

            @Override
            public void onError(Throwable failure) {
                stored.completeExceptionally(failure);
            }

            @Override
            public void onCompleted() {}
        });
        StoreRequest.Builder first = StoreRequest.newBuilder()
                .setHeader(StoreHeader.newBuilder()
                        .setSession(token)
                        .setRegion(region)
                        .setOffset(offset));
        for (int at = 0; at < data.length || first != null; at += piece) {
            StoreRequest.Builder request = first == null ? StoreRequest.newBuilder() : first;
            first = null;
            call.onNext(request.setData(ByteString.copyFrom(data, at, Math.min(piece, data.length - at)))
                    .build());
        }
        call.onCompleted();
        return Waiting.join(stored);
    }

    /** Reads a managed region. */
    public byte[] load(long region, long offset, long length) {
        Iterator<LoadResponse> pieces = memory().load(LoadRequest.newBuilder()
                .setSession(token)
                .setRegion(region)
                .setOffset(offset)
                .setLength(length)
                .build());
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        pieces.forEachRemaining(piece -> data.writeBytes(piece.getData().toByteArray()));
        return data.toByteArray();
    }

    /** Listens at a free port of loopback. */
    public Listening listen() {
        return new Listening(ListenRequest.newBuilder()
                .setSession(token)
                .setAddress("127.0.0.1")
                .build());
    }

    public Listening listen(ListenRequest request) {
        return new Listening(request);
    }

    public ConnectRequest.Builder connectRequest(int port) {
        return ConnectRequest.newBuilder()
                .setSession(token)
                .setAddress("127.0.0.1")
                .setPort(port);
    }

    public CompletableFuture<Connection> connect(ConnectRequest request) {
        // A pool might have one thread, for which the next Connect would wait.
        return CompletableFuture.supplyAsync(
                () -> connections().connect(request).getConnection(), Thread::startVirtualThread);
    }

    /** Creates an idle connection. */
    public Connection createConnection(ConnectionOptions options) {
        return connections()
                .createConnection(CreateConnectionRequest.newBuilder()
                        .setSession(token)
                        .setOptions(options)
                        .build())
                .getConnection();
    }

    /** Connects with another session, which accepts. */
    public Pair connectTo(TestSession other) {
        return connectTo(other, ConnectionOptions.getDefaultInstance());
    }

    /** Connects with another session, which accepts with options. */
    public Pair connectTo(TestSession other, ConnectionOptions options) {
        return connectTo(other, AcceptRequest.newBuilder().setOptions(options));
    }

    /** Connects with another session, which posts receives before it accepts; their connection is set here. */
    public Pair connectTo(TestSession other, TestQueue receiver, WorkRequest.Builder... receives) {
        long connection =
                other.createConnection(ConnectionOptions.getDefaultInstance()).getId();
        for (WorkRequest.Builder receive : receives) {
            receiver.post(receive.setConnection(connection).build());
        }
        return connectTo(
                other, AcceptRequest.newBuilder().setConnection(connection).setAfterPosts(receives.length));
    }

    private Pair connectTo(TestSession other, AcceptRequest.Builder accept) {
        try (Listening listening = other.listen()) {
            CompletableFuture<Connection> connecting =
                    connect(connectRequest(listening.port()).build());
            ConnectionRequest request = listening.next();
            Connection accepted = other.connections()
                    .accept(accept.setSession(other.token)
                            .setRequest(request.getId())
                            .build())
                    .getConnection();
            return new Pair(Waiting.join(connecting), accepted);
        }
    }

    /** The connections that the session has, in any state. */
    public List<Connection> listConnections() {
        return connections()
                .listConnections(
                        ListConnectionsRequest.newBuilder().setSession(token).build())
                .getConnectionsList();
    }

    /** The two ends of a connection. */
    public record Pair(Connection here, Connection there) {}

    /** A Queue call. */
    public TestQueue queue(int outstanding) {
        return new TestQueue(channel, token, outstanding);
    }

    /** Ends the channel and with it the session. */
    @Override
    public void close() {
        TestSidecar.close(channel);
    }

    static <T> T take(BlockingQueue<T> queue) {
        try {
            T next = queue.poll(SECONDS, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError("nothing came");
            }
            return next;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** A Listen call. */
    public final class Listening implements AutoCloseable {

        private final BlockingQueue<ListenResponse> responses = new LinkedBlockingQueue<>();
        private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
        private final Context.CancellableContext context = Context.ROOT.withCancellation();

        Listening(ListenRequest request) {
            context.run(() -> ConnectionServiceGrpc.newStub(channel).listen(request, new StreamObserver<>() {
                @Override
                public void onNext(ListenResponse response) {
                    responses.add(response);
                }

                @Override
                public void onError(Throwable cause) {
                    failure.complete(cause);
                }

                @Override
                public void onCompleted() {}
            }));
        }

        public int port() {
            return address().getPort();
        }

        /** Returns the address of the listener. */
        public io.sidewarp.v1.Listening address() {
            failure.thenRun(() -> responses.add(ListenResponse.getDefaultInstance()));
            ListenResponse first = take(responses);
            if (!first.hasListening()) {
                Waiting.join(failure.<ListenResponse>thenCompose(CompletableFuture::failedFuture));
            }
            return first.getListening();
        }

        public ConnectionRequest next() {
            return take(responses).getRequest();
        }

        /** Complete when the sidecar ended the call. */
        public CompletableFuture<Throwable> failure() {
            return failure;
        }

        @Override
        public void close() {
            context.cancel(null);
        }
    }
}
