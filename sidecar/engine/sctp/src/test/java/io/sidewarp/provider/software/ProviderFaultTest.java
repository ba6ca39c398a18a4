// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.rdmap.StreamSettings;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.PeerRejectedException;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import io.sidewarp.provider.software.sctp.SoftwareSctp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that resources are returned when this side fails: memory runs out, or the application's listeners throw. */
class ProviderFaultTest {

    private static RdmapStream outOfMemory(LowerLayer lower, StreamSettings settings) {
        throw new OutOfMemoryError("on purpose");
    }

    private final int udpPort = freeUdpPort();

    @AutoClose
    private final SoftwareProvider clients = SoftwareProvider.builder()
            .sctp(SoftwareSctp.defaults())
            .eventLoops(1)
            .build();

    @AutoClose
    private final SoftwareProvider servers = SoftwareProvider.builder()
            .sctp(SoftwareSctp.defaults()
                    .withSettings(
                            SctpSettings.defaults().toBuilder().udpPort(udpPort).build()))
            .eventLoops(1)
            .build();

    @AutoClose
    private final SoftwareDevice clientDevice = (SoftwareDevice) clients.open();

    @AutoClose
    private final SoftwareDevice serverDevice = (SoftwareDevice) servers.open();

    private final Wr request = new Wr();

    private static int freeUdpPort() {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ConnectionParameters parameters(Llp llp) {
        return ConnectionParameters.defaults().withLlp(llp).withUdpPort(udpPort);
    }

    /** A listener that has one request wait at a time. */
    private VerbsListener listen(Llp llp, ConnectionRequestHandler handler) throws Exception {
        return get(serverDevice.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new ListenAttributes(llp, MpaPolicy.defaults(), 1, 16, Duration.ofSeconds(10)),
                handler));
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(10, TimeUnit.SECONDS);
    }

    /** The two ends of a connection, or of an attempt. */
    private record Attempt(
            Endpoint client,
            Endpoint server,
            CompletableFuture<ConnectionAttributes> connected,
            CompletableFuture<ConnectionAttributes> accepted) {}

    private Attempt connect(Llp llp) throws Exception {
        return connect(new Door(llp));
    }

    /** Connects. Over SCTP all connections through the same door are sessions of one association. */
    private Attempt connect(Door door) throws Exception {
        Endpoint client = new Endpoint(clientDevice, 1024);
        Endpoint server = new Endpoint(serverDevice, 1024);
        CompletableFuture<ConnectionAttributes> connected =
                client.queuePair.connect(door.listener.localAddress(), parameters(door.llp));
        ConnectionRequest arrived = door.asked.poll(10, TimeUnit.SECONDS);
        assertThat(arrived).isNotNull();
        return new Attempt(client, server, connected, arrived.accept(server.queuePair, parameters(door.llp)));
    }

    /** A listener whose requests the test answers. */
    private final class Door {

        private final Llp llp;
        private final LinkedBlockingQueue<ConnectionRequest> asked = new LinkedBlockingQueue<>();
        private final VerbsListener listener;
        private volatile boolean throwing;

        Door(Llp llp) throws Exception {
            this.llp = llp;
            this.listener = listen(llp, this::onRequest);
        }

        private void onRequest(ConnectionRequest request) {
            if (throwing) {
                fail();
            }
            asked.add(request);
        }
    }

    private static void assertFailedHere(CompletableFuture<ConnectionAttributes> result) {
        assertThatThrownBy(() -> get(result))
                .cause()
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        failure -> assertThat(failure.kind()).isEqualTo(ConnectionFailedException.Kind.INTERNAL))
                .hasMessageContaining("on this side: java.lang.OutOfMemoryError: on purpose");
    }

    /** Fails when something still counts on the queue pair. */
    private static void assertGivenBack(Endpoint endpoint) throws Exception {
        endpoint.awaitState(QueuePairState.CLOSED);
        get(endpoint.queuePair.abort());
        endpoint.completions.close();
        get(endpoint.device.deregisterMemory(endpoint.region));
        endpoint.device.deallocateProtectionDomain(endpoint.domain);
    }

    private void assertMovesData(Attempt attempt) throws Exception {
        get(attempt.accepted());
        get(attempt.connected());
        attempt.server().postReceive(1, 0, 8);
        attempt.client().postSend(request.reset(2, WrOpcode.SEND).addSge(attempt.client().region, 0, 8));
        assertThat(attempt.server().awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
    }

    @ParameterizedTest
    @EnumSource
    void acceptingSideThatFailsAsRdmaModeBeginsGivesAllBack(Llp llp) throws Exception {
        serverDevice.setStreamMaker(ProviderFaultTest::outOfMemory);

        Attempt attempt = connect(llp);

        assertFailedHere(attempt.accepted());
        assertGivenBack(attempt.server());
        assertGivenBack(attempt.client());
        serverDevice.setStreamMaker(RdmapStream::new);
        assertMovesData(connect(llp));
    }

    @ParameterizedTest
    @EnumSource
    void connectingSideThatFailsAsRdmaModeBeginsGivesAllBack(Llp llp) throws Exception {
        clientDevice.setStreamMaker(ProviderFaultTest::outOfMemory);

        Attempt attempt = connect(llp);

        assertFailedHere(attempt.connected());
        assertGivenBack(attempt.client());
        assertGivenBack(attempt.server());
        clientDevice.setStreamMaker(RdmapStream::new);
        assertMovesData(connect(llp));
    }

    @ParameterizedTest
    @EnumSource
    void setUpThatFailsLeavesOtherConnectionsAlone(Llp llp) throws Exception {
        Door door = new Door(llp);
        Attempt before = connect(door);
        assertMovesData(before);
        serverDevice.setStreamMaker(ProviderFaultTest::outOfMemory);

        assertFailedHere(connect(door).accepted());

        assertMovesData(before);
    }

    @Test
    void queuePairIsGivenBackAlthoughItsListenerThrows() throws Exception {
        Endpoint endpoint = new Endpoint(clientDevice, 16);
        endpoint.queuePair.setEventListener((queuePair, state, error, message) -> fail());

        get(endpoint.queuePair.abort());

        assertGivenBack(endpoint);
    }

    @ParameterizedTest
    @EnumSource
    void connectionGoesOnAlthoughListenersThrow(Llp llp) throws Exception {
        Attempt attempt = connect(llp);
        get(attempt.accepted());
        get(attempt.connected());
        for (Endpoint end : new Endpoint[] {attempt.client(), attempt.server()}) {
            end.queuePair.setEventListener((queuePair, state, error, message) -> fail());
            end.completions.requestNotification(ProviderFaultTest::fail, false);
        }

        assertMovesData(attempt);

        assertMovesData(attempt);
        assertThat(attempt.client().queuePair.state()).isEqualTo(QueuePairState.RTS);
        attempt.client().disconnect();
        assertGivenBack(attempt.client());
        assertGivenBack(attempt.server());
    }

    @ParameterizedTest
    @EnumSource
    void requestIsRefusedWhenItsHandlerThrows(Llp llp) throws Exception {
        Door door = new Door(llp);
        Attempt before = connect(door);
        assertMovesData(before);
        door.throwing = true;

        for (int i = 0; i < 3; i++) {
            Endpoint client = new Endpoint(clientDevice, 16);
            assertThatThrownBy(() -> get(client.queuePair.connect(door.listener.localAddress(), parameters(llp))))
                    .cause()
                    .isInstanceOfAny(ConnectionFailedException.class, PeerRejectedException.class);
            assertGivenBack(client);
        }

        door.throwing = false;
        assertMovesData(connect(door));
        assertMovesData(before);
    }

    private static void fail() {
        throw new IllegalStateException("on purpose");
    }

    @Test
    void acceptingSideThatFailsAtTheAnswerGivesAllBack() throws Exception {
        Endpoint server = new Endpoint(serverDevice, 16);
        FailingSetup setup = new FailingSetup(serverDevice);

        CompletableFuture<ConnectionAttributes> accepted =
                setup.ask(asked -> asked.accept(server.queuePair, parameters(Llp.TCP)));

        assertFailedHere(accepted);
        assertGivenBack(server);
        assertThat(setup.dropped).isTrue();
        assertThat(setup.waiting()).isZero();
    }

    @Test
    void acceptingSideThatFailsAtTheRejectionEndsTheConnection() throws Exception {
        FailingSetup setup = new FailingSetup(serverDevice);

        CompletableFuture<Void> rejected = setup.ask(asked -> asked.reject(new byte[0]));

        assertThatThrownBy(() -> get(rejected)).cause().hasMessageContaining("on purpose");
        assertThat(setup.dropped).isTrue();
        assertThat(setup.waiting()).isZero();
    }
}
