// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import com.google.protobuf.ByteString;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.sidewarp.service.identity.workload.SpiffeWorkloadAPIGrpc;
import io.sidewarp.service.identity.workload.X509SVID;
import io.sidewarp.service.identity.workload.X509SVIDRequest;
import io.sidewarp.service.identity.workload.X509SVIDResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A SPIFFE agent that serves its Workload API on a Unix socket. */
public final class TestWorkloadApi implements AutoCloseable {

    private static final EpollEventLoopGroup LOOPS = new EpollEventLoopGroup(1);
    private static final Metadata.Key<String> SECURITY_HEADER =
            Metadata.Key.of("workload.spiffe.io", Metadata.ASCII_STRING_MARSHALLER);

    private final Path socket;
    private final Server server;
    private final List<StreamObserver<X509SVIDResponse>> streams = new CopyOnWriteArrayList<>();
    private final AtomicInteger calls = new AtomicInteger();
    private volatile @Nullable X509SVIDResponse current;

    /** Starts an agent. Without an identity, it refuses calls as SPIRE does for a workload that is not registered. */
    public TestWorkloadApi(Path socket) {
        this.socket = socket;
        try {
            server = NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                    .channelType(EpollServerDomainSocketChannel.class)
                    .bossEventLoopGroup(LOOPS)
                    .workerEventLoopGroup(LOOPS)
                    .addService(new Service())
                    .intercept(new RequireHeader())
                    .build()
                    .start();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Delivers an identity, now and to later callers. */
    public void deliver(X509SVIDResponse response) {
        current = response;
        streams.forEach(stream -> stream.onNext(response));
    }

    /** Returns the response with one identity and the CA of its trust domain. */
    public static X509SVIDResponse.Builder response(TestAuthority.Leaf leaf, X509Certificate authority) {
        return X509SVIDResponse.newBuilder()
                .addSvids(X509SVID.newBuilder()
                        .setSpiffeId("ignored")
                        .setX509Svid(der(leaf.certificate()))
                        .setX509SvidKey(ByteString.copyFrom(leaf.key().getEncoded()))
                        .setBundle(der(authority)));
    }

    public static ByteString der(X509Certificate certificate) {
        try {
            return ByteString.copyFrom(certificate.getEncoded());
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the number of calls so far. */
    public int calls() {
        return calls.get();
    }

    @Override
    public void close() {
        server.shutdownNow();
        try {
            server.awaitTermination();
            Files.deleteIfExists(socket);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private final class Service extends SpiffeWorkloadAPIGrpc.SpiffeWorkloadAPIImplBase {

        @Override
        public void fetchX509SVID(X509SVIDRequest request, StreamObserver<X509SVIDResponse> stream) {
            calls.incrementAndGet();
            X509SVIDResponse response = current;
            if (response == null) {
                stream.onError(Status.PERMISSION_DENIED
                        .withDescription("no identity issued")
                        .asRuntimeException());
            } else {
                streams.add(stream);
                stream.onNext(response);
            }
        }
    }

    /** Refuses calls without the header, as the specification demands (SPIFFE Workload Endpoint, section 6). */
    private static final class RequireHeader implements ServerInterceptor {

        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            if ("true".equals(headers.get(SECURITY_HEADER))) {
                return next.startCall(call, headers);
            }
            call.close(Status.INVALID_ARGUMENT.withDescription("security header missing"), new Metadata());
            return new ServerCall.Listener<>() {};
        }
    }
}
