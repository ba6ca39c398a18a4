// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.testing.SilentPeer;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests connections over TCP. */
final class SoftwareProviderTest extends ProviderSuite {

    private final Wr request = new Wr();

    SoftwareProviderTest() {
        super(Llp.TCP);
    }

    @Override
    SoftwareProvider.Builder server() {
        return provider();
    }

    /** {@inheritDoc} The kernel refuses. */
    @Override
    ConnectionFailedException.Kind nobodyThere() {
        return ConnectionFailedException.Kind.REFUSED;
    }

    @Override
    ConnectionParameters parameters() {
        return ConnectionParameters.defaults();
    }

    @Test
    void aProviderWithoutSctpSaysSo() {
        Endpoint client = new Endpoint(clientDevice(), 16);
        ConnectionParameters overSctp = parameters().withLlp(Llp.SCTP);

        assertThat(clientDevice().attributes().llps()).containsExactly(Llp.TCP);
        assertThat(clientDevice().absence(Llp.SCTP))
                .hasValueSatisfying(told -> assertThat(told).contains("without SCTP"));
        assertFails(
                client.queuePair.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471), overSctp),
                ConnectionFailedException.Kind.INVALID_PARAMETERS);
        assertThat(client.queuePair.state()).isEqualTo(QueuePairState.IDLE);
    }

    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "true, true", "false, true"})
    void movesDataWithAndWithoutCrcsAndMarkers(boolean crc, boolean markers) throws Exception {
        moveData(parameters().withMpa(bits(markers, crc)));
    }

    @Test
    void nothingIsSentWhileTheFirstFpduIsDelayed() throws Exception {
        reopenClient(provider().settings(SoftwareSettings.defaults().withFirstFpduDelay(Duration.ofHours(1))));
        Endpoint held = new Endpoint(clientDevice(), 16);
        connect(held, new Endpoint(serverDevice(), 16), parameters());

        held.postSend(request.reset(1, WrOpcode.RDMA_WRITE));
        // By then the loop, which has one thread, would have sent it.
        connect(new Endpoint(clientDevice(), 16), new Endpoint(serverDevice(), 16), parameters());

        assertThat(held.completions.poll(new Cqe[] {new Cqe()})).isZero();
        held.queuePair.abort().get(10, TimeUnit.SECONDS);
        assertThat(held.awaitCompletion().status()).isEqualTo(CqeStatus.FLUSHED);
    }

    @Test
    void whatWasPostedIsSentWhenTheDelayIsOver() throws Exception {
        reopenClient(provider().settings(SoftwareSettings.defaults().withFirstFpduDelay(Duration.ofMillis(50))));
        Endpoint client = new Endpoint(clientDevice(), 16);
        Endpoint server = new Endpoint(serverDevice(), 16);
        server.postReceive(1, 0, 16);
        connect(client, server, parameters());

        client.postSend(request.reset(1, WrOpcode.SEND).addSge(client.region, 0, 8));

        assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(server.awaitCompletion().length()).isEqualTo(8);
    }

    @Test
    void aConnectionThatIsClosedWhileTcpConnectsLeavesNoSocketBehind() throws Exception {
        try (SilentPeer peer = new SilentPeer()) {
            Endpoint client = new Endpoint(clientDevice(), 16);
            client.queuePair.connect(peer.address(), parameters().withTimeout(Duration.ofMinutes(1)));
            Awaitility.await().until(() -> peer.attempts() == 1);

            client.queuePair.abort().get(10, TimeUnit.SECONDS);

            Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> peer.attempts() == 0);
        }
    }

    @Test
    void aConnectionWhoseTimeIsOverWhileTcpConnectsLeavesNoSocketBehind() throws Exception {
        try (SilentPeer peer = new SilentPeer()) {
            Endpoint client = new Endpoint(clientDevice(), 16);

            assertFails(
                    client.queuePair.connect(peer.address(), parameters().withTimeout(Duration.ofMillis(100))),
                    ConnectionFailedException.Kind.TIMEOUT);

            Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> peer.attempts() == 0);
        }
    }

    @Test
    void aPeerThatTcpDoesNotReachInItsPartOfTheTimeIsUnreachable() throws Exception {
        try (SilentPeer peer = new SilentPeer()) {
            Endpoint client = new Endpoint(clientDevice(), 16);

            assertFails(
                    client.queuePair.connect(peer.address(), parameters().withReachTimeout(Duration.ofMillis(100))),
                    ConnectionFailedException.Kind.NO_ANSWER);

            Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> peer.attempts() == 0);
        }
    }

    @Test
    void timeoutCoversAllAddressesAndNamesThem() throws Exception {
        try (SilentPeer first = new SilentPeer();
                SilentPeer second = new SilentPeer()) {
            Endpoint client = new Endpoint(clientDevice(), 16);
            CompletableFuture<ConnectionAttributes> connecting = client.queuePair.connect(
                    List.of(first.address(), second.address()), parameters().withTimeout(Duration.ofMillis(600)));

            assertThatThrownBy(() -> connecting.get(10, TimeUnit.SECONDS))
                    .hasMessageContaining(first.address().toString())
                    .hasMessageContaining(second.address().toString());
            assertFails(connecting, ConnectionFailedException.Kind.TIMEOUT);
            Awaitility.await()
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> first.attempts() == 0 && second.attempts() == 0);
        }
    }

    @Test
    void closeWhileAddressesAreRacedLeavesNoSocketBehind() throws Exception {
        try (SilentPeer first = new SilentPeer();
                SilentPeer second = new SilentPeer()) {
            Endpoint client = new Endpoint(clientDevice(), 16);
            client.queuePair.connect(
                    List.of(first.address(), second.address()), parameters().withTimeout(Duration.ofMinutes(1)));
            Awaitility.await().until(() -> first.attempts() == 1 && second.attempts() == 1);

            client.queuePair.abort().get(10, TimeUnit.SECONDS);

            Awaitility.await()
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> first.attempts() == 0 && second.attempts() == 0);
        }
    }

    @Test
    void aPeerThatTcpReachesHasTheWholeTime() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ConnectionParameters brief =
                    parameters().withTimeout(Duration.ofMillis(300)).withReachTimeout(Duration.ofMillis(100));

            assertFails(
                    new Endpoint(clientDevice(), 16).queuePair.connect(address(silent), brief),
                    ConnectionFailedException.Kind.TIMEOUT);
        }
    }

    private static InetSocketAddress address(ServerSocket server) {
        return new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
    }

    @Test
    void tcpHasAllTheTimeThatASetUpHas() throws Exception {
        try (SilentPeer peer = new SilentPeer()) {
            Duration moreThanUsual = ConnectionParameters.defaults().timeout().plusSeconds(1);
            CompletableFuture<ConnectionAttributes> connected = new Endpoint(clientDevice(), 16)
                    .queuePair.connect(peer.address(), parameters().withTimeout(moreThanUsual));

            assertThatThrownBy(() -> connected.get(30, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            ConnectionFailedException.class,
                            failed -> assertThat(failed.kind()).isEqualTo(ConnectionFailedException.Kind.TIMEOUT));
        }
    }
}
