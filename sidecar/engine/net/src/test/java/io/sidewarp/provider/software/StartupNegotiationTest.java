// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.DepthNegotiation;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.PeerRejectedException;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.ReadDepths;
import io.sidewarp.engine.verbs.RtrKind;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the agreement of two devices over real sockets, and their reaction if they cannot agree. */
final class StartupNegotiationTest {

    private final BlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();
    private final Queue<String> failedStartups = new ConcurrentLinkedQueue<>();
    private SoftwareProvider clientProvider;
    private SoftwareProvider serverProvider;
    private Device clientDevice;
    private Device serverDevice;
    private Endpoint client;
    private Endpoint server;

    @BeforeEach
    void open() {
        clientProvider = SoftwareProvider.builder().eventLoops(1).build();
        SoftwareEvents events = new SoftwareEvents() {
            @Override
            public void onStartupFailed(InetSocketAddress remote, String message) {
                failedStartups.add(message);
            }
        };
        serverProvider = SoftwareProvider.builder().events(events).eventLoops(1).build();
        clientDevice = clientProvider.open();
        serverDevice = serverProvider.open();
        client = new Endpoint(clientDevice, 64);
        server = new Endpoint(serverDevice, 64);
    }

    @AfterEach
    void close() {
        clientDevice.close();
        serverDevice.close();
        clientProvider.close();
        serverProvider.close();
    }

    private static MpaPolicy revision2(MpaPolicy policy) {
        return policy.withRequestRevision(2);
    }

    private static ConnectionParameters parameters(UnaryOperator<MpaPolicy> policy) {
        return ConnectionParameters.defaults().withMpa(policy);
    }

    private InetSocketAddress listen(UnaryOperator<MpaPolicy> policy) throws Exception {
        return listen(policy, 16).localAddress();
    }

    private VerbsListener listen(UnaryOperator<MpaPolicy> policy, int backlog) throws Exception {
        ListenAttributes attributes =
                new ListenAttributes(Llp.TCP, policy.apply(MpaPolicy.defaults()), backlog, 16, Duration.ofSeconds(10));
        return get(serverDevice.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), attributes, requests::add));
    }

    private CompletableFuture<ConnectionAttributes> connectWithDepth2(VerbsListener listener) {
        return client.queuePair.connect(
                listener.localAddress(),
                parameters(StartupNegotiationTest::revision2).withReadDepth(2, 2));
    }

    private static void assertRejectedWithoutAWishForMoreReads(CompletableFuture<ConnectionAttributes> connected) {
        assertThatThrownBy(() -> get(connected))
                .cause()
                .isInstanceOfSatisfying(
                        PeerRejectedException.class,
                        rejected -> assertThat(rejected.peerDepths().ord()).hasValue(2));
    }

    private ConnectionRequest nextRequest() throws InterruptedException {
        ConnectionRequest request = requests.poll(10, TimeUnit.SECONDS);
        assertThat(request).isNotNull();
        return request;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(10, TimeUnit.SECONDS);
    }

    /** Connects a listener of the given policy; the result is the client's view. */
    private ConnectionAttributes connect(
            UnaryOperator<MpaPolicy> listening, ConnectionParameters asked, ConnectionParameters accepted)
            throws Exception {
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(listen(listening), asked);
        get(nextRequest().accept(server.queuePair, accepted));
        return get(connected);
    }

    @Test
    @Requirement({"EMPA-9.1-01", "EMPA-9.1-02", "EMPA-9.1-03", "RDMAP-6.1-05"})
    void revision2NegotiatesTheDepthsOfBothSides() throws Exception {
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(
                listen(UnaryOperator.identity()),
                parameters(StartupNegotiationTest::revision2).withReadDepth(3, 20));
        ConnectionRequest request = nextRequest();
        assertThat(request.mpaRevision()).isEqualTo(2);
        assertThat(request.peerDepths()).isEqualTo(new ReadDepths(OptionalInt.of(3), OptionalInt.of(20)));
        ConnectionAttributes accepted = get(
                request.accept(server.queuePair, ConnectionParameters.defaults().withReadDepth(8, 16)));
        ConnectionAttributes agreed = get(connected);

        assertThat(agreed.mpaRevision()).isEqualTo(2);
        assertThat(agreed.peerDepths()).isEqualTo(new ReadDepths(OptionalInt.of(8), OptionalInt.of(3)));
        assertThat(agreed.ird()).isEqualTo(3);
        assertThat(agreed.ord()).isEqualTo(8);
        assertThat(accepted.ird()).isEqualTo(8);
        assertThat(accepted.ord()).isEqualTo(3);
        assertThat(agreed.peerToPeer()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    @Requirement({"EMPA-9.2-01", "EMPA-9.2-03"})
    void inThePeerToPeerModelTheResponderMaySendFirst(RtrKind rtr) throws Exception {
        client.postReceive(5, 0, 8);
        ConnectionAttributes agreed = connect(
                UnaryOperator.identity(),
                parameters(policy ->
                        policy.withRequestRevision(2).withPeerToPeer(true).withRtr(rtr)),
                ConnectionParameters.defaults());

        server.postSend(new Wr().reset(1, WrOpcode.SEND).addSge(server.region, 0, 8));

        assertThat(client.awaitCompletion().id()).isEqualTo(5);
        assertThat(server.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(agreed.peerToPeer()).isTrue();
        assertThat(server.queuePair.attributes().peerToPeer()).isTrue();
    }

    @Test
    @Requirement({"EMPA-9.2-04", "EMPA-9.1-02"})
    void withoutACommonIndicationTheInitiatorTerminates() throws Exception {
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(
                listen(UnaryOperator.identity()),
                parameters(policy ->
                        policy.withRequestRevision(2).withPeerToPeer(true).withRtr(RtrKind.WRITE)));
        server.postReceive(1, 0, 8);
        nextRequest().accept(server.queuePair, parameters(policy -> policy.withRtr(RtrKind.READ)));

        assertThatThrownBy(() -> get(connected))
                .cause()
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        failed -> assertThat(failed.error()).hasValue(LlpError.NO_MATCHING_RTR))
                .hasMessageContaining("ready-to-receive");
        assertThat(server.awaitCompletion().error())
                .satisfies(error -> assertThat(error.remote()).isTrue())
                .satisfies(error -> assertThat(new int[] {error.layer(), error.type(), error.code()})
                        .containsExactly(2, 0, 7));
        client.awaitState(QueuePairState.CLOSED);
        server.awaitState(QueuePairState.CLOSED);
    }

    @Test
    @Requirement("EMPA-9.2-04")
    void anInitiatorThatCannotDoWithoutCrcsOfThePeerTerminates() throws Exception {
        try (WantingResponder responder = new WantingResponder(false, 0)) {
            assertThatThrownBy(() -> get(client.queuePair.connect(
                            responder.address(),
                            parameters(policy -> policy.withRequestRevision(2).withCrc(CrcPolicy.REQUIRED)))))
                    .cause()
                    .isInstanceOf(ConnectionFailedException.class)
                    .hasMessageContaining("does not declare CRCs");

            assertThat(responder.terminate()).containsExactly(0x20, 0x05);
            client.awaitState(QueuePairState.CLOSED);
        }
    }

    @Test
    void anInitiatorThatCannotDoWithoutCrcsGetsThemOfAPeerThatDoesNotAskForThem() throws Exception {
        ConnectionAttributes agreed = connect(
                bits(false, false),
                parameters(policy -> policy.withRequestRevision(2).withCrc(CrcPolicy.REQUIRED)),
                parameters(bits(false, false)));

        assertThat(agreed.crc()).isTrue();
        assertThat(server.queuePair.attributes().crc()).isTrue();
    }

    @Test
    @Requirement("EMPA-9.1-02")
    void withoutTheResourcesThatTheResponderWantsTheInitiatorTerminates() throws Exception {
        try (WantingResponder responder = new WantingResponder(true, 5)) {
            assertThatThrownBy(() -> get(client.queuePair.connect(
                            responder.address(),
                            parameters(StartupNegotiationTest::revision2).withReadDepth(4, 1))))
                    .cause()
                    .isInstanceOfSatisfying(
                            ConnectionFailedException.class,
                            failed -> assertThat(failed.error()).hasValue(LlpError.INSUFFICIENT_IRD))
                    .hasMessageContaining("wants 5 RDMA Reads");

            assertThat(responder.terminate()).containsExactly(0x20, 0x06);
            client.awaitState(QueuePairState.CLOSED);
        }
    }

    @Test
    @Requirement("EMPA-10-01")
    void aPeerWithoutRevision2IsAskedAgainWithRevision1() throws Exception {
        UnaryOperator<MpaPolicy> old = policy -> policy.withRevisions(Set.of(1), 1);

        ConnectionAttributes agreed =
                connect(old, parameters(StartupNegotiationTest::revision2).withReadDepth(3, 5), parameters(old));

        assertThat(agreed.mpaRevision()).isEqualTo(1);
        assertThat(agreed.peerDepths()).isEqualTo(ReadDepths.UNKNOWN);
        assertThat(agreed.ord()).isEqualTo(5);
        assertThat(requests).isEmpty();
    }

    @Test
    void aPeerWithoutRevision2IsLeftIfRevision1IsNotPermitted() throws Exception {
        InetSocketAddress address = listen(policy -> policy.withRevisions(Set.of(1), 1));

        assertThatThrownBy(() -> get(
                        client.queuePair.connect(address, parameters(policy -> policy.withRevisions(Set.of(2), 2)))))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(ConnectionFailedException.class)
                .hasMessageContaining("does not know MPA revision 2");
    }

    @Test
    void aPeerWithoutRevision2IsLeftIfThePrivateDataDoesNotFitIntoRevision1() throws Exception {
        InetSocketAddress address = listen(policy -> policy.withRevisions(Set.of(1), 1));
        UnaryOperator<MpaPolicy> legacy = policy -> revision2(policy).withDepths(DepthNegotiation.PRIVATE_DATA);

        assertThatThrownBy(() ->
                        get(client.queuePair.connect(address, parameters(legacy).withPrivateData(new byte[505]))))
                .cause()
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        failed -> assertThat(failed.kind()).isEqualTo(ConnectionFailedException.Kind.PROTOCOL))
                .hasMessageContaining("does not know MPA revision 2")
                .hasMessageContaining("505 bytes; at most 504");
    }

    @Test
    @Requirement("EMPA-9.1-03")
    void aRejectionTellsWhatWouldBeNeeded() throws Exception {
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(
                listen(UnaryOperator.identity()),
                parameters(StartupNegotiationTest::revision2).withReadDepth(2, 2));

        get(nextRequest().reject(new byte[] {9}, 30));

        assertThatThrownBy(() -> get(connected))
                .cause()
                .isInstanceOfSatisfying(PeerRejectedException.class, rejected -> {
                    assertThat(rejected.privateData()).containsExactly(9);
                    assertThat(rejected.peerDepths().ord()).hasValue(30);
                });
    }

    @Test
    @Requirement("EMPA-9.1-01")
    void aRejectionForAnotherReasonAsksForNoMoreReadsThanTheInitiatorServes() throws Exception {
        CompletableFuture<ConnectionAttributes> connected = connectWithDepth2(listen(UnaryOperator.identity(), 16));

        get(nextRequest().reject(new byte[] {9}));

        assertRejectedWithoutAWishForMoreReads(connected);
    }

    @Test
    @Requirement("EMPA-9.1-01")
    void aRejectionForWantOfRoomAsksForNoMoreReadsThanTheInitiatorServes() throws Exception {
        assertRejectedWithoutAWishForMoreReads(connectWithDepth2(listen(UnaryOperator.identity(), 0)));
        assertThat(requests).isEmpty();
    }

    @Test
    @Requirement("EMPA-9.1-01")
    void aRejectionByAListenerThatClosesAsksForNoMoreReadsThanTheInitiatorServes() throws Exception {
        VerbsListener listener = listen(UnaryOperator.identity(), 16);
        CompletableFuture<ConnectionAttributes> connected = connectWithDepth2(listener);
        nextRequest();

        get(listener.close());

        assertRejectedWithoutAWishForMoreReads(connected);
    }

    @Test
    void thePeerToPeerModelIsNotDroppedForPrivateDataThatNeedsItsRoom() throws Exception {
        InetSocketAddress address = listen(UnaryOperator.identity());

        assertThatThrownBy(() -> get(client.queuePair.connect(
                        address,
                        parameters(policy -> policy.withRequestRevision(2).withPeerToPeer(true))
                                .withPrivateData(new byte[509]))))
                .cause()
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        failed ->
                                assertThat(failed.kind()).isEqualTo(ConnectionFailedException.Kind.INVALID_PARAMETERS))
                .hasMessageContaining("at most 508");
        assertThat(requests).isEmpty();
    }

    @Test
    @Requirement("EMPA-6-02")
    void enhancedPrivateDataIsLimitedTo508Octets() throws Exception {
        UnaryOperator<MpaPolicy> enhancedOnly = policy -> policy.withRevisions(Set.of(2), 2);
        assertThatThrownBy(() -> get(client.queuePair.connect(
                        listen(UnaryOperator.identity()),
                        parameters(enhancedOnly).withPrivateData(new byte[509]))))
                .cause()
                .hasMessageContaining("at most 508");

        Endpoint again = new Endpoint(clientDevice, 16);
        CompletableFuture<ConnectionAttributes> connected = again.queuePair.connect(
                listen(UnaryOperator.identity()), parameters(enhancedOnly).withPrivateData(new byte[508]));
        ConnectionRequest request = nextRequest();
        assertThatThrownBy(() -> get(request.reject(new byte[509]))).cause().hasMessageContaining("at most 508");
        get(request.accept(server.queuePair, ConnectionParameters.defaults().withPrivateData(new byte[508])));
        assertThat(get(connected).privateData()).hasSize(508);
    }

    @Test
    void depthsInPrivateDataAreNegotiatedWithRevision1() throws Exception {
        UnaryOperator<MpaPolicy> legacy = policy -> policy.withDepths(DepthNegotiation.PRIVATE_DATA);
        byte[] data = {1, 2, 3};

        ConnectionAttributes agreed = connect(
                legacy,
                parameters(legacy).withReadDepth(3, 20).withPrivateData(data),
                parameters(legacy).withReadDepth(8, 16).withPrivateData(data));

        assertThat(agreed.mpaRevision()).isEqualTo(1);
        assertThat(agreed.ord()).isEqualTo(8);
        assertThat(agreed.privateData()).isEqualTo(data);
        assertThat(server.queuePair.attributes().ord()).isEqualTo(3);
        assertThat(server.queuePair.attributes().privateData()).isEqualTo(data);
    }

    @Test
    void aListenerThatRequiresCrcsIsNoneForPeersWithout() throws Exception {
        InetSocketAddress address = listen(policy -> policy.withCrc(CrcPolicy.REQUIRED));

        assertThatThrownBy(() -> get(client.queuePair.connect(address, parameters(bits(false, false)))))
                .cause()
                .isInstanceOf(PeerRejectedException.class);
        assertThat(requests).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"2", "1,2"})
    @Requirement("EMPA-10-01")
    void aPeerWithoutCrcsThatAsksWithRevision2IsRejectedByItsOneRequest(String revisions) throws Exception {
        Set<Integer> permitted =
                Stream.of(revisions.split(",")).map(Integer::valueOf).collect(Collectors.toSet());
        InetSocketAddress address = listen(policy -> policy.withCrc(CrcPolicy.REQUIRED));

        assertThatThrownBy(() -> get(client.queuePair.connect(
                        address, parameters(policy -> bits(false, false).apply(policy.withRevisions(permitted, 2))))))
                .cause()
                .isInstanceOf(PeerRejectedException.class);
        assertThat(failedStartups).singleElement().asString().contains("CRCs");
        assertThat(requests).isEmpty();
    }

    @Test
    void whoAcceptsCanRequireMoreThanTheListener() throws Exception {
        CompletableFuture<ConnectionAttributes> connected =
                client.queuePair.connect(listen(UnaryOperator.identity()), parameters(bits(false, false)));
        ConnectionRequest request = nextRequest();

        assertThatThrownBy(() ->
                        get(request.accept(server.queuePair, parameters(policy -> policy.withCrc(CrcPolicy.REQUIRED)))))
                .cause()
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        failed ->
                                assertThat(failed.kind()).isEqualTo(ConnectionFailedException.Kind.INVALID_PARAMETERS));
        get(request.reject(new byte[0]));
        assertThatThrownBy(() -> get(connected)).cause().isInstanceOf(PeerRejectedException.class);
    }

    @Test
    void anAcceptThatWasRefusedCanBeCorrected() throws Exception {
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(
                listen(UnaryOperator.identity()), parameters(StartupNegotiationTest::revision2));
        ConnectionRequest request = nextRequest();
        assertThatThrownBy(() -> get(request.accept(
                        server.queuePair, ConnectionParameters.defaults().withPrivateData(new byte[509]))))
                .cause()
                .hasMessageContaining("at most 508");

        ConnectionAttributes accepted = get(
                request.accept(server.queuePair, ConnectionParameters.defaults().withPrivateData(new byte[508])));

        assertThat(accepted.mpaRevision()).isEqualTo(2);
        assertThat(get(connected).privateData()).hasSize(508);
    }

    @Test
    void anAcceptThatComesSecondDoesNotFailTheFirst() throws Exception {
        CompletableFuture<ConnectionAttributes> connected =
                client.queuePair.connect(listen(UnaryOperator.identity()), ConnectionParameters.defaults());
        ConnectionRequest request = nextRequest();

        CompletableFuture<ConnectionAttributes> first =
                request.accept(server.queuePair, ConnectionParameters.defaults());
        CompletableFuture<ConnectionAttributes> second =
                request.accept(new Endpoint(serverDevice, 16).queuePair, ConnectionParameters.defaults());

        assertThatThrownBy(() -> get(second))
                .cause()
                .hasMessageContaining("answered before")
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        lapsed -> assertThat(lapsed.kind()).isEqualTo(ConnectionFailedException.Kind.LAPSED));
        assertThat(get(first).remoteAddress()).isEqualTo(get(connected).localAddress());
    }

    @ParameterizedTest(name = "client''s C {0}, server''s C {1}")
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    @Requirement("MPA-4.4-04")
    void withAndWithoutCrcsTheApplicationSeesTheSame(boolean mine, boolean yours) throws Exception {
        byte[] data = {4, 5, 6};
        server.postReceive(7, 0, 16);

        ConnectionAttributes agreed = connect(
                UnaryOperator.identity(),
                parameters(bits(false, mine)).withPrivateData(data),
                parameters(bits(false, yours)).withPrivateData(data));
        client.postSend(new Wr().reset(1, WrOpcode.SEND).addSge(client.region, 0, 16));

        assertThat(agreed.privateData()).isEqualTo(data);
        assertThat(server.queuePair.attributes().privateData()).isEqualTo(data);
        assertThat(server.awaitCompletion().length()).isEqualTo(16);
        assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(agreed.crc()).isEqualTo(mine || yours);
    }
}
