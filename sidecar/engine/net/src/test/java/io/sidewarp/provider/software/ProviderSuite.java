// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoop;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.PeerRejectedException;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests two devices over real sockets on loopback, over any lower layer. */
abstract class ProviderSuite {

    private static final int MIB = 1 << 20;

    private final Llp llp;
    private SoftwareProvider clientProvider;
    private SoftwareProvider serverProvider;
    private Device clientDevice;
    private Device serverDevice;
    private final Wr request = new Wr();

    ProviderSuite(Llp llp) {
        this.llp = llp;
    }

    /** Returns the configuration of the device that listens. */
    abstract SoftwareProvider.Builder server();

    /** Returns the kind of failure of an attempt to connect where nobody listens. */
    abstract ConnectionFailedException.Kind nobodyThere();

    /** Returns the parameters of connections. */
    abstract ConnectionParameters parameters();

    /** Returns the configuration of the device that connects. */
    SoftwareProvider.Builder provider() {
        return SoftwareProvider.builder();
    }

    Device clientDevice() {
        return clientDevice;
    }

    Device serverDevice() {
        return serverDevice;
    }

    @BeforeEach
    void open() {
        openClient(provider());
        serverProvider = server().eventLoops(1).build();
        serverDevice = serverProvider.open();
    }

    private void openClient(SoftwareProvider.Builder configuration) {
        clientProvider = configuration.eventLoops(1).build();
        clientDevice = clientProvider.open();
    }

    /** Opens the client again with another configuration. */
    void reopenClient(SoftwareProvider.Builder configuration) {
        clientDevice.close();
        clientProvider.close();
        openClient(configuration);
    }

    @AfterEach
    void close() {
        clientDevice.close();
        serverDevice.close();
        clientProvider.close();
        serverProvider.close();
    }

    ListenAttributes attributes() {
        return new ListenAttributes(llp, MpaPolicy.defaults(), 16, 16, Duration.ofSeconds(10));
    }

    VerbsListener listen(CompletableFuture<ConnectionRequest> request) throws Exception {
        return listen(request::complete);
    }

    VerbsListener listen(ConnectionRequestHandler handler) throws Exception {
        return serverDevice
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), attributes(), handler)
                .get(10, TimeUnit.SECONDS);
    }

    static void assertFails(
            CompletableFuture<ConnectionAttributes> connected, ConnectionFailedException.Kind expected) {
        assertThatThrownBy(() -> connected.get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        failed -> assertThat(failed.kind()).isEqualTo(expected));
    }

    void connect(Endpoint client, Endpoint server, ConnectionParameters parameters) throws Exception {
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = listen(asked);
        CompletableFuture<ConnectionAttributes> connected =
                client.queuePair.connect(listener.localAddress(), parameters);
        ConnectionRequest arrived = asked.get(10, TimeUnit.SECONDS);
        arrived.accept(server.queuePair, parameters).get(10, TimeUnit.SECONDS);
        connected.get(10, TimeUnit.SECONDS);
        listener.close().get(10, TimeUnit.SECONDS);
    }

    @Test
    void aRequestIsOverWhenItIsAnsweredAndWhenItsListenerIsClosed() throws Exception {
        BlockingQueue<ConnectionRequest> asked = new LinkedBlockingQueue<>();
        VerbsListener listener = listen(asked::add);
        new Endpoint(clientDevice, 16).queuePair.connect(listener.localAddress(), parameters());
        ConnectionRequest answered = asked.poll(10, TimeUnit.SECONDS);
        new Endpoint(clientDevice, 16).queuePair.connect(listener.localAddress(), parameters());
        ConnectionRequest unanswered = asked.poll(10, TimeUnit.SECONDS);
        assertThat(answered.over()).isNotDone();

        answered.reject(new byte[0]).get(10, TimeUnit.SECONDS);
        assertThat(answered.over()).isDone();
        assertThat(unanswered.over()).isNotDone();

        listener.close().get(10, TimeUnit.SECONDS);
        assertThat(unanswered.over()).isDone();
    }

    @Test
    void movesDataByWriteReadAndSend() throws Exception {
        moveData(parameters());
    }

    void moveData(ConnectionParameters parameters) throws Exception {
        Endpoint client = new Endpoint(clientDevice, 4 * MIB);
        Endpoint server = new Endpoint(serverDevice, 4 * MIB);
        client.fill(1);
        server.postReceive(7, 3 * MIB, 1000);
        connect(client, server, parameters);

        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, MIB + 13)
                .remote(server.region.stag(), 5));
        client.postSend(request.reset(2, WrOpcode.RDMA_READ)
                .addSge(client.region, 2 * MIB, MIB)
                .remote(server.region.stag(), 6));
        client.postSend(
                request.reset(3, WrOpcode.SEND).addSge(client.region, 100, 900).solicited(true));

        assertThat(client.awaitCompletion().id()).isEqualTo(1);
        assertThat(client.awaitCompletion().id()).isEqualTo(2);
        Cqe sent = client.awaitCompletion();
        assertThat(sent.id()).isEqualTo(3);
        assertThat(sent.status()).isEqualTo(CqeStatus.SUCCESS);
        Cqe received = server.awaitCompletion();
        assertThat(received.id()).isEqualTo(7);
        assertThat(received.length()).isEqualTo(900);
        assertThat(received.isSolicited()).isTrue();
        assertThat(server.octets(5, MIB + 13)).isEqualTo(client.octets(0, MIB + 13));
        assertThat(client.octets(2 * MIB, MIB)).isEqualTo(client.octets(1, MIB));
        assertThat(server.octets(3 * MIB, 900)).isEqualTo(client.octets(100, 900));

        client.disconnect();
        server.awaitState(QueuePairState.CLOSED);
    }

    @Test
    @Requirement("RDMAP-6.1-02")
    void anOrdOf0TakesNoRead() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 16);
        Endpoint server = new Endpoint(serverDevice, 16);
        connect(client, server, parameters().withReadDepth(1, 0));

        assertThat(client.queuePair.postSend(request.reset(1, WrOpcode.RDMA_READ)
                        .addSge(client.region, 0, 8)
                        .remote(server.region.stag(), 0)))
                .isEqualTo(PostResult.INVALID_REQUEST);
    }

    @Test
    @Requirement("RDMAP-6.1-02")
    void tellsBothSidesWhatWasAgreed() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 16);
        Endpoint server = new Endpoint(serverDevice, 16);
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = listen(asked);
        byte[] hello = "hello".getBytes(StandardCharsets.UTF_8);
        byte[] welcome = "welcome".getBytes(StandardCharsets.UTF_8);
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(
                listener.localAddress(), parameters().withPrivateData(hello).withReadDepth(3, 5));

        ConnectionRequest arrived = asked.get(10, TimeUnit.SECONDS);
        assertThat(arrived.privateData()).isEqualTo(hello);
        arrived.accept(server.queuePair, parameters().withPrivateData(welcome)).get(10, TimeUnit.SECONDS);

        ConnectionAttributes agreed = connected.get(10, TimeUnit.SECONDS);
        assertThat(agreed.privateData()).isEqualTo(welcome);
        assertThat(agreed.ird()).isEqualTo(3);
        assertThat(agreed.ord()).isEqualTo(5);
        assertThat(agreed.crc()).isTrue();
        assertThat(agreed.llp()).isEqualTo(llp);
        assertThat(agreed.mpaRevision()).isEqualTo(llp == Llp.TCP ? 1 : 0);
        assertThat(agreed.mulpdu()).isBetween(128, 65535);
    }

    @Test
    void givesTheRejectionsPrivateData() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 16);
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = listen(asked);
        CompletableFuture<ConnectionAttributes> connected =
                client.queuePair.connect(listener.localAddress(), parameters());

        asked.get(10, TimeUnit.SECONDS).reject(new byte[] {1, 2, 3}).get(10, TimeUnit.SECONDS);

        assertThatThrownBy(() -> connected.get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        PeerRejectedException.class,
                        rejected -> assertThat(rejected.privateData()).containsExactly(1, 2, 3));
        client.awaitState(QueuePairState.CLOSED);
    }

    @Test
    void saysWhyNobodyAnswers() {
        Endpoint client = new Endpoint(clientDevice, 16);
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

        assertFails(client.queuePair.connect(nobody, parameters().withTimeout(Duration.ofSeconds(2))), nobodyThere());
    }

    @Test
    void endsTheConnectionWhenAWriteIsOutOfBounds() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 64);
        Endpoint server = new Endpoint(serverDevice, 64);
        connect(client, server, parameters());
        server.postReceive(9, 0, 64);

        // The first message opens the way for the responder's Terminate.
        client.postSend(request.reset(1, WrOpcode.RDMA_READ)
                .addSge(client.region, 0, 32)
                .remote(server.region.stag(), 40));

        Cqe failed = client.awaitCompletion();
        assertThat(failed.status()).isEqualTo(CqeStatus.REMOTE_ACCESS_ERROR);
        StreamError error = failed.error();
        assertThat(error).isNotNull();
        assertThat(error.remote()).isTrue();
        assertThat(error.layer()).isZero();
        assertThat(error.type()).isEqualTo(1);
        assertThat(error.code()).isEqualTo(1);
        assertThat(server.awaitCompletion().status()).isEqualTo(CqeStatus.FLUSHED);
        client.awaitState(QueuePairState.CLOSED);
        server.awaitState(QueuePairState.CLOSED);
    }

    @Test
    @Requirement("RDMAP-8.1.1-10")
    void aCompletionQueueThatOverflowsEndsItsOwnStreamsOnly() throws Exception {
        Endpoint careless = new Endpoint(clientDevice, 16, 2);
        Endpoint careful = new Endpoint(clientDevice, 16);
        Endpoint first = new Endpoint(serverDevice, 16);
        Endpoint second = new Endpoint(serverDevice, 16);
        connect(careless, first, parameters());
        connect(careful, second, parameters());

        for (int id = 1; id <= 3; id++) {
            careless.postSend(request.reset(id, WrOpcode.RDMA_WRITE)
                    .addSge(careless.region, 0, 8)
                    .remote(first.region.stag(), 0));
        }

        first.awaitState(QueuePairState.CLOSED);
        assertThat(careless.completions.isOverrun()).isTrue();
        assertThat(careful.completions.isOverrun()).isFalse();
        for (int id = 1; id <= 100; id++) {
            careful.postSend(request.reset(id, WrOpcode.RDMA_WRITE)
                    .addSge(careful.region, 0, 8)
                    .remote(second.region.stag(), 0));
            Cqe done = careful.awaitCompletion();
            assertThat(done.id()).isEqualTo(id);
            assertThat(done.status()).isEqualTo(CqeStatus.SUCCESS);
        }
        assertThat(careful.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    @Requirement("DDP-6.2.1-02")
    void takesNoTransferAfterADisconnect() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 16);
        Endpoint server = new Endpoint(serverDevice, 16);
        connect(client, server, parameters());

        CompletableFuture<Void> closed = client.queuePair.disconnect();
        PostResult write = client.queuePair.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, 16)
                .remote(server.region.stag(), 0));

        assertThat(write).isEqualTo(PostResult.INVALID_STATE);
        closed.get(10, TimeUnit.SECONDS);
        server.awaitState(QueuePairState.CLOSED);
    }

    @Test
    void closesGracefullyFromTheResponderBeforeAnyTraffic() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 16);
        Endpoint server = new Endpoint(serverDevice, 16);
        connect(client, server, parameters());

        server.disconnect();

        client.awaitState(QueuePairState.CLOSED);
    }

    @Test
    void anAttemptThatIsAbortedBeforeItBeganConnectsNothing() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 16);
        VerbsListener listener = listen(new CompletableFuture<>());

        CompletableFuture<ConnectionAttributes> connected = CompletableFuture.supplyAsync(
                        () -> {
                            CompletableFuture<ConnectionAttributes> attempt =
                                    client.queuePair.connect(listener.localAddress(), parameters());
                            client.queuePair.abort();
                            return attempt;
                        },
                        loopOf(client))
                .thenCompose(attempt -> attempt);

        assertThatThrownBy(() -> connected.get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        failed -> assertThat(failed.kind()).isEqualTo(ConnectionFailedException.Kind.ABORTED));
        assertThat(client.queuePair.state()).isEqualTo(QueuePairState.CLOSED);
        assertThat(client.domain.queuePairs()).isZero();
    }

    @Test
    void aQueuePairThatIsAboutToBeAbortedIsNotConnectedAnyMore() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 16);
        VerbsListener listener = listen(new CompletableFuture<>());
        CountDownLatch loopIsFree = new CountDownLatch(1);
        loopOf(client).submit(() -> loopIsFree.await(10, TimeUnit.SECONDS));

        CompletableFuture<Void> closed = client.queuePair.abort();
        CompletableFuture<ConnectionAttributes> connected =
                client.queuePair.connect(listener.localAddress(), parameters());
        loopIsFree.countDown();

        assertThatThrownBy(() -> connected.get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is closed");
        closed.get(10, TimeUnit.SECONDS);
        assertThat(client.queuePair.state()).isEqualTo(QueuePairState.CLOSED);
        assertThat(client.domain.queuePairs()).isZero();
    }

    private static EventLoop loopOf(Endpoint endpoint) {
        return ((SoftwareQueuePair) endpoint.queuePair).loop();
    }

    @Test
    void flushesOutstandingWorkWhenThePeerAborts() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 64);
        Endpoint server = new Endpoint(serverDevice, 64);
        connect(client, server, parameters());
        client.postReceive(1, 0, 32);
        client.postReceive(2, 32, 32);

        server.queuePair.abort().get(10, TimeUnit.SECONDS);

        for (long id = 1; id <= 2; id++) {
            Cqe flushed = client.awaitCompletion();
            assertThat(flushed.id()).isEqualTo(id);
            assertThat(flushed.status()).isEqualTo(CqeStatus.FLUSHED);
        }
        client.awaitState(QueuePairState.CLOSED);
    }
}
