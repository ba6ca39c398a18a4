// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.sctp.DdpAssociation;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpAssociationFacts;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.provider.software.SoftwareDevice;
import io.sidewarp.provider.software.SoftwareProvider;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how long the provider waits for an association that a peer began. */
final class SoftwareAssociationTest {

    /** A loop that reports whether it has a scheduled task. */
    private static final class WatchedLoop extends DefaultEventLoop {

        boolean isWaiting() {
            return nextScheduledTaskNano() >= 0;
        }

        /** Returns the time until the next scheduled task. */
        Duration untilNext() {
            return Duration.ofNanos(nextScheduledTaskNano());
        }
    }

    private static final SctpNetwork.Door DOOR = new SctpNetwork.Door(null, 7471);
    private static final int CONTROL = 17;
    private static final String INITIATE = "0000 0001";
    private static final String TERMINATE = "0001 0004";

    private final WatchedLoop loop = new WatchedLoop();
    private final Transport transport = new Transport(loop);
    private final List<ConnectionRequest> requests = new ArrayList<>();
    private Duration patience = Duration.ofHours(1);
    private SctpNetwork network;
    private SoftwareProvider provider;
    private SoftwareDevice device;
    private SoftwareAssociation association;

    @BeforeEach
    void open() {
        provider = SoftwareProvider.builder().eventLoops(1).build();
        device = (SoftwareDevice) provider.open();
        network = new SctpNetwork(
                device,
                SoftwareSctp.of(() -> {
                    throw new AssertionError("no SCTP is needed");
                }),
                loop);
        SoftwareAssociation.Keeper keeper = new SoftwareAssociation.Keeper() {
            @Override
            public void onEstablished(SoftwareAssociation established) {
                established.endUnlessUsed(patience);
            }

            @Override
            public void onClosed(SoftwareAssociation closed, String cause) {}
        };
        association = new SoftwareAssociation(network, transport, DOOR, keeper);
    }

    @AfterEach
    void close() {
        provider.close();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    }

    private void onLoop(Runnable work) throws Exception {
        loop.submit(work).get(10, TimeUnit.SECONDS);
    }

    private boolean loopIsWaiting() throws Exception {
        return loop.submit(loop::isWaiting).get(10, TimeUnit.SECONDS);
    }

    private void establish() throws Exception {
        onLoop(this::up);
    }

    private void up() {
        association.sessions().onEstablished(4, 4, OptionalInt.of(DdpAssociation.ADAPTATION_INDICATION));
    }

    @Test
    void theLoopKeepsNothingOfAnAssociationThatHasEnded() throws Exception {
        establish();
        assertThat(loopIsWaiting()).isTrue();

        onLoop(() -> association.sessions().onClosed(false, "the peer aborted it"));

        assertThat(loopIsWaiting()).isFalse();
    }

    /** Somebody listens who does not answer for a long time. */
    private void listen() throws Exception {
        ListenAttributes attributes = new ListenAttributes(Llp.SCTP, MpaPolicy.defaults(), 16, 16, Duration.ofHours(2));
        SoftwareSctpListener listener = new SoftwareSctpListener(device, network, attributes, requests::add);
        onLoop(() -> network.onListening(DOOR, listener));
    }

    private void receive(String message) throws Exception {
        onLoop(() -> take(message));
    }

    /** A session control message of the peer on stream 0, and the turns that its answer needs. Runs on the loop. */
    private void take(String message) {
        byte[] octets = Octets.hex(message);
        association.sessions().onMessage(0, CONTROL, WireBuffer.copyOf(octets), 0, octets.length);
        association.sessions().onInputDone();
        for (int turn = 0; turn < 4; turn++) {
            association.sessions().produce();
        }
    }

    private Duration next() throws Exception {
        return loop.submit(loop::untilNext).get(10, TimeUnit.SECONDS);
    }

    @Test
    void aRequestThatIsRefusedProlongsNothing() throws Exception {
        establish();

        receive(INITIATE);

        assertThat(association.sessions().occupiedStreams()).isZero();
        assertThat(next()).isGreaterThan(Duration.ofMinutes(30));
    }

    @Test
    void aRequestThatThePeerTakesBackProlongsNothing() throws Exception {
        listen();
        establish();

        receive(INITIATE);
        receive(TERMINATE);

        assertThat(requests).hasSize(1);
        assertThat(association.sessions().occupiedStreams()).isZero();
        assertThat(next()).isGreaterThan(Duration.ofMinutes(30)).isLessThan(Duration.ofMinutes(90));
    }

    @Test
    void anAssociationThatHadAConnectionIsWaitedForAgain() throws Exception {
        establish();
        onLoop(association::onUsed);

        receive(INITIATE);

        assertThat(next()).isLessThanOrEqualTo(network.settings().lingerTimeout());
    }

    @Test
    void anAssociationWithARequestThatWaitsEndsNoEarlierThanTheRequest() throws Exception {
        listen();
        patience = Duration.ZERO;
        onLoop(() -> {
            up();
            take(INITIATE);
        });
        // Comes behind the end of the patience.
        loop.schedule(() -> {}, 1, TimeUnit.MILLISECONDS).get(10, TimeUnit.SECONDS);
        assertThat(transport.shutdown).isFalse();

        receive(TERMINATE);

        assertThat(association.sessions().occupiedStreams()).isZero();
        assertThat(transport.shutdown).isTrue();
    }

    /** An association that is up, and whose peer acknowledges at once. */
    private static final class Transport implements SctpAssociation {

        private final EventLoop loop;
        private volatile boolean shutdown;
        private long sent;

        Transport(EventLoop loop) {
            this.loop = loop;
        }

        @Override
        public EventLoop loop() {
            return loop;
        }

        @Override
        public InetSocketAddress localAddress() {
            return InetSocketAddress.createUnresolved("here", 7471);
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return InetSocketAddress.createUnresolved("there", 7471);
        }

        @Override
        public int remoteUdpPort() {
            return 0;
        }

        @Override
        public long retransmittedChunks() {
            return 0;
        }

        @Override
        public SctpAssociationFacts facts() {
            return SctpAssociationFacts.NONE;
        }

        @Override
        public void requestOutput() {}

        @Override
        public boolean send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {
            sent++;
            return true;
        }

        @Override
        public int maxMessage() {
            return 1428;
        }

        @Override
        public long acknowledged() {
            return sent;
        }

        @Override
        public void requestAcknowledged() {}

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void wakeAt(long nanoTime) {}

        @Override
        public void shutdown() {
            shutdown = true;
        }

        @Override
        public void abort(String reason) {}
    }
}
