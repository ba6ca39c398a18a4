// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Scope;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClientTest {

    private static final Metadata.Key<String> TRACEPARENT =
            Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

    @TempDir
    private Path directory;

    @Test
    void missingSocketIsNamedWithTheRemedy() {
        Path socket = directory.resolve("none.sock");
        try (SidewarpClient client = SidewarpClient.connect("unix://" + socket)) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> client.openSession("test"))
                    .withMessageContaining("no sidecar answers at unix://" + socket)
                    .withMessageContaining("the socket does not exist")
                    .withMessageContaining("SIDEWARP_API")
                    .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.UNAVAILABLE));
        }
    }

    @Test
    void socketThatNobodyListensOnIsNamedWithTheRemedy() throws Exception {
        FakeSidecar sidecar = new FakeSidecar(directory);
        Path socket = sidecar.socket;
        Path left = directory.resolve("left.sock");
        Files.createLink(left, socket);
        sidecar.close();
        try (SidewarpClient client = SidewarpClient.connect("unix:" + left)) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(client::device)
                    .withMessageContaining("connection refused")
                    .withMessageContaining("awaitReady");
        }
    }

    @Test
    void tcpPortThatNobodyListensOnIsNamedWithTheRemedy() throws Exception {
        int port;
        try (ServerSocket unused = new ServerSocket(0)) {
            port = unused.getLocalPort();
        }
        try (SidewarpClient client = SidewarpClient.connect("127.0.0.1:" + port)) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(client::listSessions)
                    .withMessageContaining("no sidecar answers at 127.0.0.1:" + port + ": connection refused")
                    .withMessageNotContaining("(..)");
        }
    }

    @Test
    void closedClientIsNamedWithTheRemedy() {
        SidewarpClient client = SidewarpClient.connect("127.0.0.1:1");
        client.close();

        for (ThrowingCallable use : List.<ThrowingCallable>of(
                client::device, () -> client.openSession("late"), () -> client.awaitReady(Duration.ofSeconds(60)))) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(use)
                    .withMessage("the client of 127.0.0.1:1 is closed: open another one with SidewarpClient.connect")
                    .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.CANCELLED));
        }
    }

    @Test
    void serverThatSpeaksAnotherProtocolIsNamed() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                SidewarpClient client = SidewarpClient.connect("127.0.0.1:" + other.getLocalPort())) {
            Thread.ofVirtual().start(new FutureTask<>(() -> {
                try (Socket accepted = other.accept()) {
                    accepted.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(US_ASCII));
                    return accepted.getInputStream().readAllBytes();
                }
            }));

            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(client::device)
                    .withMessageStartingWith("the server at " + client.target() + " does not speak gRPC");
        }
    }

    @Test
    void pathThatIsNoSocketIsToldWithoutTheSystemCall() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        try (SidewarpClient client = SidewarpClient.connect("unix://" + file + "/api.sock")) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(client::device)
                    .withMessageStartingWith("no sidecar answers at " + client.target()
                            + ": Not a directory; check the address, which SIDEWARP_API sets");
        }
    }

    @Test
    void sidecarThatGoesAwayIsToldInWordsOfTheClient() throws Exception {
        FakeSidecar sidecar = new FakeSidecar(directory);
        try (SidewarpClient client = sidecar.client();
                Session session = client.openSession("left")) {
            sidecar.close();

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> session.closed().get(20, TimeUnit.SECONDS))
                    .withMessageContaining("session \"left\" was lost")
                    .withMessageContaining("the sidecar at " + client.target())
                    .withMessageNotContaining("RST_STREAM");
        }
    }

    @Test
    void awaitReadyWaitsForASidecarThatStartsLater() throws Exception {
        try (SidewarpClient client = SidewarpClient.connect("unix://" + directory.resolve("api.sock"))) {
            CompletableFuture<Void> ready = CompletableFuture.runAsync(() -> client.awaitReady(Duration.ofSeconds(60)));

            try (FakeSidecar sidecar = new FakeSidecar(directory)) {
                ready.get();
                assertThat(client.device().provider()).isEqualTo("fake");
                assertThat(sidecar.headers).isNotEmpty();
            }
        }
    }

    @Test
    void foreverIsALimitToo() throws Exception {
        Duration forever = ChronoUnit.FOREVER.getDuration();
        try (FakeSidecar sidecar = new FakeSidecar(directory);
                SidewarpClient client = SidewarpClient.connect(ClientOptions.defaults()
                        .withTarget("unix://" + sidecar.socket)
                        .withCallTimeout(forever))) {
            client.awaitReady(forever);

            assertThat(client.device().provider()).isEqualTo("fake");
            try (Session session = client.openSession("patient")) {
                assertThat(session.name()).isEqualTo("patient");
            }
        }
    }

    @Test
    void sessionOpensAsSoonAsTheSidecarIsThere() throws Exception {
        try (SidewarpClient client = SidewarpClient.connect("unix://" + directory.resolve("api.sock"))) {
            for (int start = 0; start < 30; start++) {
                for (int i = 0; i < 5; i++) {
                    assertThatExceptionOfType(SidewarpException.class).isThrownBy(() -> client.openSession("early"));
                }

                try (FakeSidecar sidecar = new FakeSidecar(directory)) {
                    client.openSession("test").close();
                    assertThat(sidecar.sessions).hasSize(1);
                }
            }
        }
    }

    @Test
    void hostWithoutAnAddressIsNamed() {
        try (SidewarpClient client = SidewarpClient.connect("no-such-host.invalid:1")) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(client::device)
                    .withMessageContaining(
                            "no sidecar answers at no-such-host.invalid:1: the host's name has no address");
        }
    }

    @Test
    void awaitReadyTellsWhatItSawLast() throws Exception {
        try (FakeSidecar sidecar = new FakeSidecar(directory);
                SidewarpClient client = sidecar.client()) {
            sidecar.health.setStatus("", ServingStatus.NOT_SERVING);

            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> client.awaitReady(Duration.ofSeconds(1)))
                    .withMessageContaining("was not ready within 1 s: its health is NOT_SERVING")
                    .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED));
        }
    }

    @Test
    void callerTraceContextGoesWithTheCall() throws Exception {
        SpanContext caller = SpanContext.create(
                "0af7651916cd43dd8448eb211c80319c",
                "b7ad6b7169203331",
                TraceFlags.getSampled(),
                TraceState.getDefault());
        try (FakeSidecar sidecar = new FakeSidecar(directory);
                SidewarpClient client = sidecar.client()) {
            client.device();
            try (Scope scope = Span.wrap(caller).makeCurrent()) {
                assertThat(scope).isNotNull();
                client.device();
            }

            assertThat(sidecar.headers.getFirst().get(TRACEPARENT)).isNull();
            assertThat(sidecar.headers.getLast().get(TRACEPARENT))
                    .isEqualTo("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        }
    }

    @Test
    void blockingCallOnTheEventLoopIsRefusedInsteadOfHanging() throws Exception {
        try (FakeSidecar sidecar = new FakeSidecar(directory);
                SidewarpClient client = sidecar.client();
                Session session = client.openSession("test")) {
            WorkQueue queue = session.openQueue(0);
            FakeTransfer.FakeQueue server = FakeSidecar.next(sidecar.transfer.queues);
            CompletableFuture<Void> blocked = queue.submit(WorkRequest.send(session.connect("127.0.0.1", 1)))
                    .thenRun(client::device);

            server.succeed(server.nextWork());

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(blocked::get)
                    .withCauseInstanceOf(IllegalStateException.class)
                    .withMessageContaining("event loop");
        }
    }

    @Test
    void interruptedCallerGetsAnExceptionAndStaysInterrupted() throws Exception {
        try (FakeSidecar sidecar = new FakeSidecar(directory);
                SidewarpClient client = sidecar.client();
                Session session = client.openSession("test")) {
            Connection connection = session.connect("127.0.0.1", 1);
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread caller = Thread.ofVirtual().start(() -> {
                try {
                    connection.write(new Sge(1, 0, 1), new RemoteAddress(1, 0));
                } catch (SidewarpException e) {
                    interrupted.complete(e.code() == Status.Code.CANCELLED
                            && Thread.currentThread().isInterrupted());
                }
            });

            caller.interrupt();

            assertThat(interrupted.get()).isTrue();
        }
    }

    @Test
    void badTargetIsRefusedAtOnce() {
        assertThatIllegalArgumentException().isThrownBy(() -> SidewarpClient.connect("nowhere"));
    }
}
