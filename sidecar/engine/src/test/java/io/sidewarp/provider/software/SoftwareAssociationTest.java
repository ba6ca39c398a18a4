// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.sctp.DdpAssociation;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpAssociationFacts;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How long an association that a peer began is waited for. */
final class SoftwareAssociationTest {

    /** A loop that tells whether it has anything to do later. */
    private static final class WatchedLoop extends DefaultEventLoop {

        boolean isWaiting() {
            return nextScheduledTaskNano() >= 0;
        }
    }

    private final WatchedLoop loop = new WatchedLoop();
    private SoftwareProvider provider;
    private SoftwareAssociation association;

    @BeforeEach
    void open() {
        provider = SoftwareProvider.builder().eventLoops(1).build();
        SctpNetwork network = new SctpNetwork(
                (SoftwareDevice) provider.open(),
                () -> {
                    throw new AssertionError("no SCTP is needed");
                },
                List.of(),
                loop);
        SoftwareAssociation.Keeper patient = new SoftwareAssociation.Keeper() {
            @Override
            public void onEstablished(SoftwareAssociation established) {
                established.endUnlessUsed(Duration.ofHours(1));
            }

            @Override
            public void onClosed(SoftwareAssociation closed, String cause) {}
        };
        association = new SoftwareAssociation(network, new Transport(loop), new SctpNetwork.Door(null, 7471), patient);
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
        onLoop(() -> association.sessions().onEstablished(4, 4, OptionalInt.of(DdpAssociation.ADAPTATION_INDICATION)));
    }

    @Test
    void theLoopKeepsNothingOfAnAssociationThatHasEnded() throws Exception {
        establish();
        assertThat(loopIsWaiting()).isTrue();

        onLoop(() -> association.sessions().onClosed(false, "the peer aborted it"));

        assertThat(loopIsWaiting()).isFalse();
    }

    /** An association that is up, and carries nothing. */
    private static final class Transport implements SctpAssociation {

        private final EventLoop loop;

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
            return false;
        }

        @Override
        public int maxMessage() {
            return 1428;
        }

        @Override
        public long acknowledged() {
            return 0;
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
        public void shutdown() {}

        @Override
        public void abort(String reason) {}
    }
}
