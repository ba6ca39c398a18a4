// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.llp.sctp.AdaptationSettings;
import io.sidewarp.engine.llp.sctp.AssociationListener;
import io.sidewarp.engine.llp.sctp.DdpAssociation;
import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.EarlyBudget;
import io.sidewarp.engine.llp.sctp.SctpUser;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpDestination;
import io.sidewarp.engine.net.sctp.SctpEndpoint;
import io.sidewarp.engine.net.sctp.SctpOverUdp;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.net.sctp.usrsctp.Usrsctp;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.provider.Endpoint;
import io.sidewarp.provider.software.sctp.SoftwareSctp;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests connections over SCTP in UDP. */
final class SctpProviderTest extends SctpProviderSuite {

    /** {@inheritDoc} Nothing tells that nobody listens at a UDP port, for ICMP is not to be believed. */
    @Override
    ConnectionFailedException.Kind nobodyThere() {
        return ConnectionFailedException.Kind.TIMEOUT;
    }

    @Test
    @Requirement("UDP-5.5-01")
    void icmpEndsNoAttempt() throws Exception {
        int unused;
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            unused = socket.getLocalPort();
        }

        assertFails(
                new Endpoint(clientDevice(), 16)
                        .queuePair.connect(
                                nobody(), parameters().withUdpPort(unused).withTimeout(Duration.ofSeconds(1))),
                ConnectionFailedException.Kind.TIMEOUT);
    }

    @Test
    void refusesWhatIsNoDestination() {
        Endpoint client = new Endpoint(clientDevice(), 16);
        Endpoint other = new Endpoint(clientDevice(), 16);
        InetSocketAddress anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471);
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("somewhere", 7471);

        assertFails(
                client.queuePair.connect(anywhere, parameters().withUdpPort(0)),
                ConnectionFailedException.Kind.INVALID_PARAMETERS);
        assertFails(
                other.queuePair.connect(unresolved, parameters()), ConnectionFailedException.Kind.INVALID_PARAMETERS);
    }

    @Test
    void anAddressThatIsNoHostsOwnIsRefusedInEachFamily() {
        for (String address : List.of("0.0.0.0", "::")) {
            CompletableFuture<ConnectionAttributes> connecting = new Endpoint(clientDevice(), 16)
                    .queuePair.connect(new InetSocketAddress(InetAddress.ofLiteral(address), 7471), parameters());

            assertThatThrownBy(() -> connecting.get(10, TimeUnit.SECONDS))
                    .hasMessageContaining("a wildcard address belongs to no host; use the peer's own address");
            assertFails(connecting, ConnectionFailedException.Kind.INVALID_PARAMETERS);
        }
    }

    @Test
    void anAssociationIsBegunNoMoreWhenItsConnectionHasTimedOut() throws Exception {
        reopenClient(provider().sctp(oneAssociation()));

        assertFails(
                new Endpoint(clientDevice(), 16)
                        .queuePair.connect(nobody(), parameters().withTimeout(Duration.ofMillis(100))),
                ConnectionFailedException.Kind.TIMEOUT);

        connect(new Endpoint(clientDevice(), 16), new Endpoint(serverDevice(), 16), parameters());
    }

    @Test
    void aPeerWithoutAssociationInItsPartOfTheTimeIsUnreachable() throws Exception {
        reopenClient(provider().sctp(oneAssociation()));

        assertFails(
                new Endpoint(clientDevice(), 16)
                        .queuePair.connect(nobody(), parameters().withReachTimeout(Duration.ofMillis(100))),
                ConnectionFailedException.Kind.NO_ANSWER);

        connect(new Endpoint(clientDevice(), 16), new Endpoint(serverDevice(), 16), parameters());
    }

    @Test
    void anAssociationIsBegunNoMoreWhenItsConnectionIsClosed() throws Exception {
        reopenClient(provider().sctp(oneAssociation()));
        Endpoint closed = new Endpoint(clientDevice(), 16);
        closed.queuePair.connect(nobody(), parameters().withTimeout(Duration.ofMinutes(1)));
        CompletableFuture<ConnectionAttributes> refused =
                new Endpoint(clientDevice(), 16).queuePair.connect(nobodyElse(), parameters());
        assertThatThrownBy(() -> refused.get(10, TimeUnit.SECONDS))
                .hasMessageContaining("1 associations already")
                .hasMessageNotContaining("check the address");
        assertFails(refused, ConnectionFailedException.Kind.LIMIT);

        closed.queuePair.abort().get(10, TimeUnit.SECONDS);

        connect(new Endpoint(clientDevice(), 16), new Endpoint(serverDevice(), 16), parameters());
    }

    @Test
    void anAssociationBeyondTheLimitIsTold() throws Exception {
        BlockingQueue<String> refused = new LinkedBlockingQueue<>();
        SoftwareEvents events = new SoftwareEvents() {
            @Override
            public void onRefused(InetSocketAddress remote, String limit) {
                refused.add(remote.getAddress().getHostAddress() + ": " + limit);
            }
        };
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (SoftwareProvider full = SoftwareProvider.builder()
                        .sctp(oneAssociation())
                        .events(events)
                        .build();
                Device device = full.open();
                EngineLoops loops = EngineLoops.create(1, NetSettings.defaults())) {
            VerbsListener listener = device.listen(new InetSocketAddress(loopback, 0), attributes(), ignored -> {})
                    .get(10, TimeUnit.SECONDS);
            SctpDestination destination = new SctpDestination(
                    loopback,
                    listener.localAddress().getPort(),
                    listener.udpPort().getAsInt());
            SctpEndpoint peer = endpoint(loops);
            peer.connect(destination, Duration.ofSeconds(10), first -> silent(first, new CompletableFuture<>()))
                    .get(10, TimeUnit.SECONDS);

            CompletableFuture<SctpAssociation> second = peer.connect(
                    destination, Duration.ofSeconds(10), transport -> silent(transport, new CompletableFuture<>()));

            assertThat(refused.poll(10, TimeUnit.SECONDS)).isEqualTo("127.0.0.1: SCTP associations");
            assertThatThrownBy(() -> second.get(10, TimeUnit.SECONDS)).hasMessageContaining("no room");
            CompletableFuture<ConnectionAttributes> third = new Endpoint(clientDevice(), 16)
                    .queuePair.connect(
                            listener.localAddress(),
                            parameters().withUdpPort(listener.udpPort().getAsInt()));
            assertThatThrownBy(() -> third.get(10, TimeUnit.SECONDS))
                    .hasMessageContaining("the peer has no room for the association (Out of Resource)")
                    .hasMessageContaining("sidewarp.sctp.associations")
                    .hasMessageNotContaining("check the address");
            assertFails(third, ConnectionFailedException.Kind.REFUSED);
            peer.close().get(10, TimeUnit.SECONDS);
        }
    }

    private static SoftwareSctp oneAssociation() {
        return SoftwareSctp.defaults()
                .withSettings(SctpSettings.defaults().toBuilder()
                        .udpPort(0)
                        .maxAssociations(1)
                        .build());
    }

    private static InetSocketAddress nobody() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471);
    }

    private static InetSocketAddress nobodyElse() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 7472);
    }

    @Test
    void anAssociationOnWhichThePeerBeginsNoSessionIsShutDown() throws Exception {
        ListenAttributes impatient =
                new ListenAttributes(Llp.SCTP, MpaPolicy.defaults(), 16, 16, Duration.ofMillis(300));
        InetAddress loopback = InetAddress.getLoopbackAddress();
        VerbsListener listener = serverDevice()
                .listen(new InetSocketAddress(loopback, 0), impatient, ignored -> {})
                .get(10, TimeUnit.SECONDS);
        SctpDestination destination =
                new SctpDestination(loopback, listener.localAddress().getPort(), remoteUdpPort());
        CompletableFuture<Boolean> graceful = new CompletableFuture<>();

        try (EngineLoops loops = EngineLoops.create(1, NetSettings.defaults())) {
            SctpEndpoint silent = endpoint(loops);
            silent.connect(destination, Duration.ofSeconds(10), transport -> silent(transport, graceful))
                    .get(10, TimeUnit.SECONDS);

            assertThat(graceful.get(20, TimeUnit.SECONDS)).isTrue();
            silent.close().get(10, TimeUnit.SECONDS);
        }
        listener.close().get(10, TimeUnit.SECONDS);
    }

    /** An endpoint of a peer that is the test. */
    private static SctpEndpoint endpoint(EngineLoops loops) throws Exception {
        return new SctpOverUdp(Usrsctp.load())
                .open(
                        loops,
                        loops.choose(),
                        List.of(InetAddress.getLoopbackAddress()),
                        OptionalInt.of(DdpAssociation.ADAPTATION_INDICATION),
                        SctpSettings.defaults())
                .get(10, TimeUnit.SECONDS);
    }

    /** Speaks DDP, and says nothing. */
    private static DdpAssociation silent(SctpAssociation transport, CompletableFuture<Boolean> graceful) {
        AdaptationSettings settings = AdaptationSettings.defaults();
        AssociationListener listener = new AssociationListener() {
            @Override
            public void onEstablished() {}

            @Override
            public boolean onInitiate(DdpStreamSession session, SessionStartup asked) {
                return false;
            }

            @Override
            public void onIdle() {}

            @Override
            public void onClosed(boolean wasGraceful, String cause) {
                graceful.complete(wasGraceful);
            }
        };
        return new DdpAssociation(transport, settings, EarlyBudget.ofDevice(settings), true, listener);
    }

    @Test
    void aRequestThatThePeerTerminatesCountsForTheBacklogNoMore() throws Exception {
        ListenAttributes patient = new ListenAttributes(Llp.SCTP, MpaPolicy.defaults(), 16, 16, Duration.ofHours(1));
        InetAddress loopback = InetAddress.getLoopbackAddress();
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = serverDevice()
                .listen(new InetSocketAddress(loopback, 0), patient, asked::complete)
                .get(10, TimeUnit.SECONDS);
        SctpDestination destination =
                new SctpDestination(loopback, listener.localAddress().getPort(), remoteUdpPort());

        try (EngineLoops loops = EngineLoops.create(1, NetSettings.defaults())) {
            SctpEndpoint fickle = endpoint(loops);
            fickle.connect(
                            destination,
                            Duration.ofSeconds(10),
                            transport -> new MessageSender(transport, "0000 0001", "0001 0004"))
                    .get(10, TimeUnit.SECONDS);

            asked.get(10, TimeUnit.SECONDS).over().get(10, TimeUnit.SECONDS);

            fickle.close().get(10, TimeUnit.SECONDS);
        }
        listener.close().get(10, TimeUnit.SECONDS);
    }

    /** Sends session control messages on stream 0 as soon as the association is up, and ignores all notifications. */
    private static final class MessageSender implements SctpUser {

        private final SctpAssociation transport;
        private final Deque<String> messages;

        MessageSender(SctpAssociation transport, String... messages) {
            this.transport = transport;
            this.messages = new ArrayDeque<>(List.of(messages));
        }

        @Override
        public void onEstablished(int inboundStreams, int outboundStreams, OptionalInt adaptation) {
            transport.requestOutput();
        }

        @Override
        public void produce() {
            while (!messages.isEmpty()) {
                byte[] octets = Octets.hex(messages.getFirst());
                if (!transport.send(0, 17, WireBuffer.copyOf(octets), 0, octets.length)) {
                    return;
                }
                messages.removeFirst();
            }
        }

        @Override
        public void onMessage(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {}

        @Override
        public void onInputDone() {}

        @Override
        public void onAcknowledged() {}

        @Override
        public void onWake() {}

        @Override
        public void onClosed(boolean graceful, String cause) {}
    }

    @Test
    void anAttemptThatFailsOnThisSideIsNoMatterOfThePeer() {
        try (SoftwareProvider provider = SoftwareProvider.builder()
                        .sctp(SoftwareSctp.of(() -> {
                            throw new OutOfMemoryError("no native memory");
                        }))
                        .build();
                Device device = provider.open()) {
            CompletableFuture<ConnectionAttributes> connecting =
                    new Endpoint(device, 16).queuePair.connect(nobody(), parameters());

            assertThatThrownBy(() -> connecting.get(10, TimeUnit.SECONDS))
                    .cause()
                    .hasMessageContaining("no native memory")
                    .hasMessageNotContaining("check the address");
            assertFails(connecting, ConnectionFailedException.Kind.INTERNAL);
        }
    }

    @Test
    void saysWhatIsMissingWhereThereIsNoSctp() {
        SctpUnavailableException missing = new SctpUnavailableException("install it", new IllegalStateException());
        try (SoftwareProvider provider = SoftwareProvider.builder()
                        .sctp(SoftwareSctp.of(() -> {
                            throw missing;
                        }))
                        .build();
                Device device = provider.open()) {
            Endpoint client = new Endpoint(device, 16);
            InetSocketAddress anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471);

            CompletableFuture<ConnectionAttributes> connecting = client.queuePair.connect(anywhere, parameters());
            assertThatThrownBy(() -> connecting.get(10, TimeUnit.SECONDS))
                    .cause()
                    .hasMessageContaining("install it")
                    .hasMessageNotContaining("check the address");
            assertFails(connecting, ConnectionFailedException.Kind.INVALID_PARAMETERS);
            assertThatThrownBy(() ->
                            device.listen(anywhere, attributes(), ignored -> {}).get(10, TimeUnit.SECONDS))
                    .cause()
                    .hasMessageContaining("install it");
            assertThat(device.attributes().llps()).containsExactly(Llp.TCP);
            assertThat(device.absence(Llp.SCTP)).contains("install it");
            assertThat(clientDevice().absence(Llp.SCTP)).isEmpty();
            assertThat(clientDevice().attributes().llps()).contains(Llp.SCTP);
        }
    }
}
