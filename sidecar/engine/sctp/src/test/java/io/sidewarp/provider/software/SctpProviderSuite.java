// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.verbs.AssociationAttributes;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.Llp;
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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests connections over SCTP, over any carrier. */
abstract class SctpProviderSuite extends ProviderSuite {

    private static final int STREAMS = 3;

    private final int udpPort = freeUdpPort();

    SctpProviderSuite() {
        super(Llp.SCTP);
    }

    private static int freeUdpPort() {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    SoftwareProvider.Builder provider() {
        return SoftwareProvider.builder().sctp(sctp());
    }

    @Override
    SoftwareProvider.Builder server() {
        return SoftwareProvider.builder().sctp(serverSctp());
    }

    /** Returns SCTP of the device that connects. */
    SoftwareSctp sctp() {
        return SoftwareSctp.defaults();
    }

    private SoftwareSctp serverSctp() {
        return sctp().withSettings(SctpSettings.defaults().toBuilder()
                .udpPort(udpPort)
                .streams(STREAMS)
                .build());
    }

    @Override
    ConnectionParameters parameters() {
        return ConnectionParameters.defaults().withLlp(Llp.SCTP).withUdpPort(udpPort);
    }

    /** Connects two devices whose SCTP endpoints have the addresses, and tells what the first one has then. */
    AssociationAttributes associate(InetAddress... addresses) throws Exception {
        try (SoftwareProvider clients = SoftwareProvider.builder()
                        .sctp(sctp().withAddresses(List.of(addresses)))
                        .eventLoops(1)
                        .build();
                SoftwareProvider servers = SoftwareProvider.builder()
                        .sctp(serverSctp().withAddresses(List.of(addresses)))
                        .eventLoops(1)
                        .build();
                Device here = clients.open();
                Device there = servers.open()) {
            CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
            VerbsListener listener = there.listen(new InetSocketAddress(0), attributes(), asked::complete)
                    .get(10, TimeUnit.SECONDS);
            InetSocketAddress remote =
                    new InetSocketAddress(addresses[0], listener.localAddress().getPort());
            CompletableFuture<ConnectionAttributes> connected =
                    new Endpoint(here, 16).queuePair.connect(remote, parameters());
            asked.get(10, TimeUnit.SECONDS)
                    .accept(new Endpoint(there, 16).queuePair, parameters())
                    .get(10, TimeUnit.SECONDS);
            connected.get(10, TimeUnit.SECONDS);
            return here.associations().get(10, TimeUnit.SECONDS).getFirst();
        }
    }

    @Test
    void listensAndBeginsAtTheAddressThatWasSet() throws Exception {
        InetAddress second = InetAddress.ofLiteral("127.0.0.2");

        AssociationAttributes association = associate(second);

        assertThat(association.localAddress().getAddress()).isEqualTo(second);
        assertThat(association.remoteAddress().getAddress()).isEqualTo(second);
        assertThat(association.paths()).hasSize(1);
    }

    /** Returns the UDP port of the server's encapsulation, or 0 without encapsulation. */
    int remoteUdpPort() {
        return udpPort;
    }

    @Test
    @Requirement("EMPA-7-01")
    void negotiatesDepthsWithTheEnhancedMessages() throws Exception {
        Endpoint client = new Endpoint(clientDevice(), 16);
        Endpoint server = new Endpoint(serverDevice(), 16);

        connect(
                client,
                server,
                parameters().withMpa(policy -> policy.withRequestRevision(2)).withReadDepth(3, 5));

        ConnectionAttributes agreed = client.queuePair.attributes();
        assertThat(agreed.peerDepths().ird()).hasValue(3);
        assertThat(agreed.ord()).isEqualTo(3);
        assertThat(agreed.ird()).isEqualTo(3);
    }

    @Test
    @Requirement("EMPA-9.1-01")
    void aRejectionAsksForNoMoreReadsThanTheInitiatorServes() throws Exception {
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = listen(asked);
        CompletableFuture<ConnectionAttributes> connected = new Endpoint(clientDevice(), 16)
                .queuePair.connect(
                        listener.localAddress(),
                        parameters()
                                .withMpa(policy -> policy.withRequestRevision(2))
                                .withReadDepth(3, 5));

        asked.get(10, TimeUnit.SECONDS).reject(new byte[] {9}).get(10, TimeUnit.SECONDS);

        assertThatThrownBy(() -> connected.get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        PeerRejectedException.class,
                        rejected -> assertThat(rejected.peerDepths().ord()).hasValue(3));
    }

    @Test
    @Requirement("SCTP-6.3-02")
    void aListenerThatClosesRejectsNothingThatItsApplicationDidNotReject() throws Exception {
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = listen(asked);
        CompletableFuture<ConnectionAttributes> connected =
                new Endpoint(clientDevice(), 16).queuePair.connect(listener.localAddress(), parameters());
        ConnectionRequest undecided = asked.get(10, TimeUnit.SECONDS);

        listener.close().get(10, TimeUnit.SECONDS);

        assertThatThrownBy(() -> connected.get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(ConnectionFailedException.class)
                .hasMessageContaining("refused the session");
        assertThat(undecided.over()).isDone();
    }

    @Test
    void connectionsShareAnAssociationUntilItsStreamsAreUsedUp() throws Exception {
        List<Endpoint> ends = new ArrayList<>();
        Set<InetSocketAddress> sources = new HashSet<>();
        LinkedBlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();
        VerbsListener listener = listen(requests::add);
        for (int i = 0; i < 2 * STREAMS; i++) {
            Endpoint client = new Endpoint(clientDevice(), 16);
            Endpoint server = new Endpoint(serverDevice(), 16);
            CompletableFuture<ConnectionAttributes> connected =
                    client.queuePair.connect(listener.localAddress(), parameters());
            ConnectionRequest arrived = requests.poll(10, TimeUnit.SECONDS);
            assertThat(arrived).isNotNull();
            arrived.accept(server.queuePair, parameters()).get(10, TimeUnit.SECONDS);
            sources.add(connected.get(10, TimeUnit.SECONDS).localAddress());
            ends.add(client);
        }
        assertThat(sources).hasSize(2);

        ends.getFirst().disconnect();
        Endpoint client = new Endpoint(clientDevice(), 16);
        Endpoint server = new Endpoint(serverDevice(), 16);
        CompletableFuture<ConnectionAttributes> connected =
                client.queuePair.connect(listener.localAddress(), parameters());
        requests.take().accept(server.queuePair, parameters()).get(10, TimeUnit.SECONDS);

        sources.add(connected.get(10, TimeUnit.SECONDS).localAddress());
        assertThat(sources).as("a stream that is free again is used").hasSizeLessThanOrEqualTo(3);
        listener.close().get(10, TimeUnit.SECONDS);
    }

    @Test
    void aConnectionOnAnAssociationGoesToTheListenerThatIsThereNow() throws Exception {
        LinkedBlockingQueue<ConnectionRequest> former = new LinkedBlockingQueue<>();
        LinkedBlockingQueue<ConnectionRequest> present = new LinkedBlockingQueue<>();
        VerbsListener closed = listen(former::add);
        InetSocketAddress address = closed.localAddress();
        Endpoint first = new Endpoint(clientDevice(), 16);
        long association = connect(first, address, former).association();
        closed.close().get(10, TimeUnit.SECONDS);

        VerbsListener listener =
                serverDevice().listen(address, attributes(), present::add).get(10, TimeUnit.SECONDS);
        Endpoint second = new Endpoint(clientDevice(), 16);

        assertThat(connect(second, address, present).association()).isEqualTo(association);
        assertThat(first.queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(former).isEmpty();
        listener.close().get(10, TimeUnit.SECONDS);
    }

    private ConnectionAttributes connect(
            Endpoint client, InetSocketAddress address, LinkedBlockingQueue<ConnectionRequest> requests)
            throws Exception {
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(address, parameters());
        ConnectionRequest arrived = requests.poll(10, TimeUnit.SECONDS);
        assertThat(arrived).isNotNull();
        arrived.accept(new Endpoint(serverDevice(), 16).queuePair, parameters()).get(10, TimeUnit.SECONDS);
        return connected.get(10, TimeUnit.SECONDS);
    }

    @Test
    void associationsTellWhatTheyCarryAndHowTheyDo() throws Exception {
        Endpoint one = new Endpoint(clientDevice(), 16);
        Endpoint other = new Endpoint(clientDevice(), 16);
        LinkedBlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();
        VerbsListener listener = listen(requests::add);
        for (Endpoint client : List.of(one, other)) {
            CompletableFuture<ConnectionAttributes> connected =
                    client.queuePair.connect(listener.localAddress(), parameters());
            requests.take()
                    .accept(new Endpoint(serverDevice(), 16).queuePair, parameters())
                    .get(10, TimeUnit.SECONDS);
            connected.get(10, TimeUnit.SECONDS);
        }

        List<AssociationAttributes> here = clientDevice().associations().get(10, TimeUnit.SECONDS);
        List<AssociationAttributes> there = serverDevice().associations().get(10, TimeUnit.SECONDS);

        assertThat(here).singleElement().satisfies(association -> {
            assertThat(association.initiator()).isTrue();
            assertThat(association.remoteAddress()).isEqualTo(listener.localAddress());
            assertThat(association.remoteUdpPort()).isEqualTo(remoteUdpPort());
            assertThat(association.streams()).isEqualTo(STREAMS);
            assertThat(association.occupiedStreams()).isEqualTo(2);
            assertThat(association.chunksSent()).isGreaterThanOrEqualTo(2);
            assertThat(association.paths()).singleElement().satisfies(path -> {
                assertThat(path.remote()).isEqualTo(listener.localAddress().getAddress());
                assertThat(path.active()).isTrue();
                assertThat(path.primary()).isTrue();
                assertThat(path.pathMtu()).isPositive();
            });
        });
        assertThat(there).singleElement().satisfies(association -> {
            assertThat(association.initiator()).isFalse();
            assertThat(association.remoteAddress()).isEqualTo(here.getFirst().localAddress());
            assertThat(association.chunksReceived()).isGreaterThanOrEqualTo(2);
        });
        assertThat(one.queuePair.attributes().association())
                .isEqualTo(here.getFirst().id())
                .isEqualTo(other.queuePair.attributes().association());
        assertThat(List.of(one.queuePair.attributes().stream(), other.queuePair.attributes().stream()))
                .containsExactly(0, 1);
        listener.close().get(10, TimeUnit.SECONDS);
    }

    @Test
    @Requirement({"DDP-3-08", "SCTP-11.3-03"})
    void anErrorOnOneConnectionLeavesTheOthersOfTheAssociationAlone() throws Exception {
        Endpoint bad = new Endpoint(clientDevice(), 64);
        Endpoint good = new Endpoint(clientDevice(), 64);
        Endpoint badServer = new Endpoint(serverDevice(), 64);
        Endpoint goodServer = new Endpoint(serverDevice(), 64);
        LinkedBlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();
        VerbsListener listener = listen(requests::add);
        bad.queuePair.connect(listener.localAddress(), parameters());
        requests.take().accept(badServer.queuePair, parameters()).get(10, TimeUnit.SECONDS);
        good.queuePair.connect(listener.localAddress(), parameters());
        requests.take().accept(goodServer.queuePair, parameters()).get(10, TimeUnit.SECONDS);
        bad.awaitState(QueuePairState.RTS);
        good.awaitState(QueuePairState.RTS);
        assertThat(bad.queuePair.attributes().localAddress())
                .isEqualTo(good.queuePair.attributes().localAddress());

        Wr request = new Wr();
        bad.postSend(
                request.reset(1, WrOpcode.RDMA_WRITE).addSge(bad.region, 0, 8).remote(0x0102_0304, 0));
        bad.awaitState(QueuePairState.CLOSED);

        good.fill(3);
        good.postSend(
                request.reset(2, WrOpcode.RDMA_WRITE).addSge(good.region, 0, 64).remote(goodServer.region.stag(), 0));
        good.postSend(
                request.reset(3, WrOpcode.RDMA_READ).addSge(good.region, 0, 1).remote(goodServer.region.stag(), 0));
        assertThat(good.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(good.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(goodServer.octets(0, 64)).isEqualTo(good.octets(0, 64));
    }

    @Test
    void listensAtEveryAddressWhereNoneIsNamed() throws Exception {
        Endpoint client = new Endpoint(clientDevice(), 16);
        Endpoint server = new Endpoint(serverDevice(), 16);
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = serverDevice()
                .listen(new InetSocketAddress(0), attributes(), asked::complete)
                .get(10, TimeUnit.SECONDS);
        InetSocketAddress loopback = new InetSocketAddress(
                InetAddress.getLoopbackAddress(), listener.localAddress().getPort());

        client.queuePair.connect(loopback, parameters());
        asked.get(10, TimeUnit.SECONDS).accept(server.queuePair, parameters()).get(10, TimeUnit.SECONDS);

        client.awaitState(QueuePairState.RTS);
        listener.close().get(10, TimeUnit.SECONDS);
    }
}
