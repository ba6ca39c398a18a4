// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.net.PeerLimit;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.provider.Endpoint;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests peers that use up the resources for strangers: connections, time, buffers. */
final class PeerLimitsTest {

    private static final Duration SHORT = Duration.ofMillis(300);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final byte[] KEY = "MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII);

    private final List<String> failed = new CopyOnWriteArrayList<>();
    private final List<String> refused = new CopyOnWriteArrayList<>();
    private final List<PeerLimit> limits = new CopyOnWriteArrayList<>();
    private final BlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();
    private final List<Socket> peers = new ArrayList<>();
    private SoftwareProvider provider;
    private Device device;

    /** Records the events of the provider. */
    private final class Events implements SoftwareEvents {

        @Override
        public void onStartupFailed(InetSocketAddress remote, String message) {
            failed.add(message);
        }

        @Override
        public void onRefused(InetSocketAddress remote, String limit) {
            refused.add(limit);
        }

        @Override
        public void onPeerLimit(PeerLimit limit) {
            limits.add(limit);
        }
    }

    @BeforeEach
    void open() {
        open(SHORT);
    }

    private void open(Duration lingerTimeout) {
        NetSettings net = NetSettings.defaults()
                .withStagingCapacity(NetSettings.MIN_STAGING_CAPACITY)
                .withOutputBuffers(4, 1)
                .withLingerTimeout(lingerTimeout)
                .withStallTimeout(SHORT)
                .withBusyPoll(Duration.ZERO);
        SoftwareSettings settings = SoftwareSettings.defaults().withNet(net);
        provider = SoftwareProvider.builder()
                .settings(settings)
                .events(new Events())
                .eventLoops(1)
                .build();
        device = provider.open();
    }

    @AfterEach
    void close() throws Exception {
        for (Socket peer : peers) {
            peer.close();
        }
        device.close();
        provider.close();
    }

    private VerbsListener listen(int backlog, int startupConnections, Duration startupTimeout) throws Exception {
        return device.listen(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        new ListenAttributes(
                                Llp.TCP, MpaPolicy.defaults(), backlog, startupConnections, startupTimeout),
                        requests::add)
                .get(10, TimeUnit.SECONDS);
    }

    private Socket connect(VerbsListener listener) throws IOException {
        return connect(listener, "127.0.0.1");
    }

    /** Connects from the address {@code from} of the loopback interface. */
    private Socket connect(VerbsListener listener, String from) throws IOException {
        Socket peer = new Socket(
                listener.localAddress().getAddress(),
                listener.localAddress().getPort(),
                InetAddress.ofLiteral(from),
                0);
        peers.add(peer);
        return peer;
    }

    private Socket request(VerbsListener listener) throws IOException {
        return request(connect(listener));
    }

    private static Socket request(Socket peer) throws IOException {
        byte[] frame = Arrays.copyOf(KEY, 20);
        frame[16] = 0x40;
        frame[17] = 1;
        peer.getOutputStream().write(frame);
        return peer;
    }

    /** A connection in full operation. */
    private Socket establish(Endpoint endpoint) throws Exception {
        return establish(endpoint, listen(1, 1, LONG));
    }

    private Socket establish(Endpoint endpoint, VerbsListener listener) throws Exception {
        Socket peer = request(listener);
        ConnectionRequest asked = requests.poll(10, TimeUnit.SECONDS);
        assertThat(asked).isNotNull();
        asked.accept(endpoint.queuePair, ConnectionParameters.defaults()).get(10, TimeUnit.SECONDS);
        assertThat(peer.getInputStream().readNBytes(20)).hasSize(20);
        return peer;
    }

    /** Returns whether this side closes the connection, in order or by a reset. */
    private static boolean isClosed(Socket peer) {
        try {
            peer.setSoTimeout(10_000);
            return peer.getInputStream().read() < 0;
        } catch (IOException e) {
            return e.getMessage().contains("reset");
        }
    }

    /** Opens a device that waits for peers to close their sides as long as a test may take. */
    private void openPatiently() throws Exception {
        close();
        open(LONG);
    }

    /** Checks that a connection above the limit of connections in start-up is refused. */
    private void assertRefused(VerbsListener listener) throws IOException {
        refused.clear();
        assertThat(isClosed(connect(listener))).isTrue();
        assertThat(refused).containsExactly("connections in start-up");
    }

    private void awaitRequestGetsThrough(VerbsListener listener) {
        Awaitility.await().ignoreExceptionsInstanceOf(IOException.class).until(() -> {
            request(listener);
            return requests.poll(1, TimeUnit.SECONDS) != null;
        });
    }

    @Test
    void beyondTheLimitTheOldestSilentConnectionGivesWayToOneThatHasSomethingToSay() throws Exception {
        VerbsListener listener = listen(4, 2, LONG);
        Socket oldest = connect(listener);
        Socket newer = connect(listener);
        Socket honest = request(listener);

        assertThat(requests.poll(10, TimeUnit.SECONDS)).isNotNull();
        assertThat(isClosed(oldest)).isTrue();
        assertThat(refused).containsExactly("connections in start-up");
        assertThat(failed).isEmpty();
        request(newer);
        assertThat(requests.poll(10, TimeUnit.SECONDS)).isNotNull();
        assertThat(honest.isClosed()).isFalse();
    }

    @Test
    void aFloodFromOneAddressTakesNoPlaceFromOthers() throws Exception {
        VerbsListener listener = listen(4, 4, LONG);
        Socket slow = connect(listener, "127.0.0.2");
        List<Socket> flood = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            flood.add(connect(listener));
        }
        // Places are given in the order in which connections come.
        assertThat(flood.subList(0, 17)).allMatch(PeerLimitsTest::isClosed);

        request(slow);
        assertThat(requests.poll(10, TimeUnit.SECONDS)).isNotNull();
        request(connect(listener, "127.0.0.3"));
        assertThat(requests.poll(10, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void connectionsThatFailedAndStayOpenGiveWayToThoseOfOtherAddresses() throws Exception {
        openPatiently();
        VerbsListener listener = listen(4, 2, LONG);
        List<Socket> wrong = List.of(connect(listener), connect(listener));
        for (Socket peer : wrong) {
            peer.getOutputStream().write(new byte[KEY.length]);
            assertThat(isClosed(peer)).isTrue();
        }

        request(connect(listener, "127.0.0.2"));

        assertThat(requests.poll(10, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void silentConnectionsPassWithTheStartupTime() throws Exception {
        VerbsListener listener = listen(4, 2, SHORT);
        List<Socket> silent = List.of(connect(listener), connect(listener));

        assertThat(silent).allMatch(PeerLimitsTest::isClosed);
        // The peer may see the close before this side has told of it.
        Awaitility.await()
                .untilAsserted(() -> assertThat(failed)
                        .hasSize(2)
                        .allMatch(message -> message.contains("no MPA Request Frame in time")));
        awaitRequestGetsThrough(listener);
    }

    @Test
    void aConnectionWhoseStartUpFailedCountsUntilItIsClosed() throws Exception {
        openPatiently();
        VerbsListener listener = listen(4, 1, LONG);
        Socket wrong = connect(listener);
        wrong.getOutputStream().write(new byte[KEY.length]);
        assertThat(isClosed(wrong)).isTrue();

        assertRefused(listener);
        wrong.close();
        awaitRequestGetsThrough(listener);
    }

    @Test
    void aConnectionThatWasRejectedCountsUntilItIsClosed() throws Exception {
        openPatiently();
        VerbsListener listener = listen(4, 1, LONG);
        Socket rejected = request(listener);
        ConnectionRequest asked = requests.poll(10, TimeUnit.SECONDS);
        assertThat(asked).isNotNull();
        asked.reject(new byte[0]).get(10, TimeUnit.SECONDS);
        assertThat(rejected.getInputStream().readNBytes(20)).hasSize(20);

        assertRefused(listener);
        rejected.close();
        awaitRequestGetsThrough(listener);
    }

    @Test
    void aConnectionBeyondTheBacklogCountsUntilItIsClosed() throws Exception {
        openPatiently();
        VerbsListener listener = listen(1, 1, LONG);
        request(listener);
        assertThat(requests.poll(10, TimeUnit.SECONDS)).isNotNull();
        Socket excess = request(listener);
        assertThat(excess.getInputStream().readNBytes(20)).hasSize(20);

        assertRefused(listener);
    }

    @Test
    void neitherAConnectionInFullOperationNorOneThatWaitsForAnAnswerCountsAsOneInStartUp() throws Exception {
        VerbsListener listener = listen(4, 1, LONG);
        establish(new Endpoint(device, 4096), listener);
        for (int i = 0; i < 4; i++) {
            request(listener);
            assertThat(requests.poll(10, TimeUnit.SECONDS)).isNotNull();
        }
        assertThat(refused).isEmpty();
    }

    @Test
    void aPeerThatSendsItsRequestOctetByOctetHasNoMoreTimeThanOthers() throws Exception {
        VerbsListener listener = listen(4, 1, SHORT);
        Socket slow = connect(listener);
        Iterator<Byte> octets = longRequest().iterator();
        Awaitility.await().pollInterval(Duration.ofMillis(20)).untilAsserted(() -> {
            sendOne(slow, octets.next());
            assertThat(failed).hasSize(1);
        });

        assertThat(failed.getFirst()).contains("no MPA Request Frame in time");
        assertThat(requests).isEmpty();
    }

    /** A Request with 512 octets of Private Data. */
    private static List<Byte> longRequest() {
        byte[] frame = Arrays.copyOf(KEY, 20 + 512);
        frame[17] = 1;
        frame[18] = 2;
        List<Byte> octets = new ArrayList<>();
        for (byte octet : frame) {
            octets.add(octet);
        }
        return octets;
    }

    private static void sendOne(Socket peer, byte octet) {
        try {
            peer.getOutputStream().write(octet);
        } catch (IOException e) {
            // This side has closed already.
        }
    }

    @Test
    void aFloodOfRequestsIsRejectedBeyondTheBacklog() throws Exception {
        VerbsListener listener = listen(1, 8, LONG);
        request(listener);
        assertThat(requests.poll(10, TimeUnit.SECONDS)).isNotNull();
        Socket excess = request(listener);

        byte[] reply = excess.getInputStream().readNBytes(20);
        assertThat(reply[16] & 0x20).as("R").isNotZero();
        assertThat(refused).containsExactly("connection requests that wait for an answer");
    }

    @Test
    void aRequestWhosePeerLeavesIsOverAndGivesItsPlaceBack() throws Exception {
        VerbsListener listener = listen(1, 8, LONG);
        Socket peer = request(listener);
        ConnectionRequest asked = requests.poll(10, TimeUnit.SECONDS);
        assertThat(asked).isNotNull();
        assertThat(asked.over()).isNotDone();

        peer.close();

        asked.over().get(10, TimeUnit.SECONDS);
        request(listener);
        assertThat(requests.poll(10, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void aRequestThatNobodyAnswersInTimeIsOver() throws Exception {
        // The same time is for the request itself.
        request(listen(1, 8, Duration.ofSeconds(2)));
        ConnectionRequest asked = requests.poll(10, TimeUnit.SECONDS);
        assertThat(asked).isNotNull();

        asked.over().get(10, TimeUnit.SECONDS);
    }

    @Test
    @Requirement("MPA-7.1.2-13")
    void aPeerThatLeavesAnFpduIncompleteLosesTheConnectionAndTheBuffer() throws Exception {
        Endpoint endpoint = new Endpoint(device, 4096);
        List<String> messages = new CopyOnWriteArrayList<>();
        endpoint.queuePair.setEventListener((queuePair, state, error, message) -> messages.add(message));
        Socket peer = establish(endpoint);
        peer.getOutputStream().write(new byte[] {(byte) 0xFF, (byte) 0xFF, 1, 2, 3});

        endpoint.awaitState(QueuePairState.CLOSED);
        assertThat(messages.getLast()).contains("left an FPDU incomplete for 300 ms");
        assertThat(limits).containsExactly(PeerLimit.INCOMPLETE_FPDU);
        assertThat(isClosed(peer)).isTrue();
    }

    @Test
    void aPeerThatDoesNotCloseItsSideLosesTheConnection() throws Exception {
        Endpoint endpoint = new Endpoint(device, 4096);
        Socket peer = establish(endpoint);
        endpoint.queuePair.disconnect();

        endpoint.awaitState(QueuePairState.CLOSED);
        assertThat(limits).containsExactly(PeerLimit.LINGER);
        assertThat(isClosed(peer)).isTrue();
    }
}
