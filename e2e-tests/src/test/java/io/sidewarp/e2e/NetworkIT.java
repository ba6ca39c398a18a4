// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.LowerLayerProtocol;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.RdmaErrorInfo;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.network.IpPacket;
import io.sidewarp.e2e.network.TestNetwork;
import io.sidewarp.e2e.network.TestNetwork.Carrier;
import io.sidewarp.e2e.support.Events;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.SidecarProcess;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests two sidecars in network namespaces. The network between them loses, delays, repeats and reorders packets. */
@ExtendWith(Logs.class)
class NetworkIT {

    private static final int ETHERNET_MTU = 1500;
    private static final int OCTETS = 4 << 20;
    private static final int MESSAGES = 100;
    private static final int MESSAGE_OCTETS = 5_000;

    /**
     * Two connected sidecars with a region to write to.
     *
     * @param nearby prefix of commands that must run in the namespace of the connecting sidecar
     */
    private record Pair(
            Link link,
            Session here,
            Session there,
            SharedRegion source,
            SharedRegion target,
            OwnedProcess far,
            List<String> nearby) {}

    private static void withPair(Carrier carrier, Consumer<Pair> test) {
        withPair(LowerLayerProtocol.TCP, carrier, test);
    }

    private static void withPair(LowerLayerProtocol llp, Carrier carrier, Consumer<Pair> test) {
        withPair(llp, carrier, SidecarProcess.with("near"), test);
    }

    private static void withPair(
            LowerLayerProtocol llp, Carrier carrier, SidecarProcess.Builder near, Consumer<Pair> test) {
        try (TestNetwork network = TestNetwork.open(ETHERNET_MTU, carrier);
                SidecarProcess left = near.prefix(network.left().prefix()).start();
                SidecarProcess right = SidecarProcess.with("far")
                        .prefix(network.right().prefix())
                        .start();
                SidewarpClient leftClient = left.client();
                SidewarpClient rightClient = right.client();
                Session here = leftClient.openSession("here");
                Session there = rightClient.openSession("there")) {
            SharedRegion source = here.createSharedRegion("source", OCTETS, Access.LOCAL_WRITE);
            SharedRegion target = there.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE, Access.REMOTE_READ);
            Pattern.fill(source.segment(), 1);
            Link link = llp == LowerLayerProtocol.SCTP
                    ? Link.connectOverSctp(network.right().address(), here, there)
                    : Link.connect(
                            network.right().address(),
                            here,
                            ConnectionOptions.defaults(),
                            there,
                            ConnectionOptions.defaults());
            test.accept(new Pair(
                    link,
                    here,
                    there,
                    source,
                    target,
                    right.process(),
                    network.left().prefix()));
        }
    }

    /** Writes the whole region and waits until all of it is there: the completion of a Read behind it says so. */
    private static void writeAll(Pair pair) {
        pair.link().initiator().write(pair.source().slice(), pair.target().address());
        pair.link().initiator().read(pair.source().slice(0, 1), pair.target().address());
        assertThat(pair.target().segment().mismatch(pair.source().segment())).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    @Requirement({"DDP-3-05", "DDP-3-11", "RDMAP-5.5-03"})
    void lossRepetitionAndReorderingChangeNothing(LowerLayerProtocol llp) {
        SplittableRandom random = new SplittableRandom(1);
        Carrier bad = (packet, fromLeft, out) -> {
            if (random.nextInt(100) < 1) {
                return;
            }
            out.deliver(packet, random.nextInt(10) == 0 ? 2_000 : 0);
            if (random.nextInt(20) == 0) {
                out.deliver(packet, 3_000);
            }
        };
        withPair(llp, bad, pair -> {
            writeAll(pair);

            // The bytes that are written twice must hold the data of the last Write, because placement is in order.
            pair.link()
                    .initiator()
                    .write(pair.source().slice(0, OCTETS / 2), pair.target().address());
            pair.link()
                    .initiator()
                    .write(
                            pair.source().slice(OCTETS / 2, OCTETS / 2),
                            pair.target().address());
            pair.link()
                    .initiator()
                    .read(pair.source().slice(0, 1), pair.target().address());
            assertThat(pair.target()
                            .segment()
                            .asSlice(0, OCTETS / 2)
                            .mismatch(pair.source().segment().asSlice(OCTETS / 2)))
                    .isEqualTo(-1);

            ManagedRegion inbox = pair.there().registerManaged(MESSAGE_OCTETS, Access.LOCAL_WRITE);
            for (int i = 0; i < MESSAGES; i++) {
                var received = pair.link().responder().receiveAsync(inbox.slice());
                pair.link().responder().info();
                pair.link().initiator().send(pair.source().slice(i, MESSAGE_OCTETS - i));
                WorkCompletion completion = Patience.get(received);
                assertThat(completion.length()).isEqualTo(MESSAGE_OCTETS - i);
                assertThat(inbox.load(0, 1)[0])
                        .isEqualTo(pair.source().segment().get(ValueLayout.JAVA_BYTE, i));
            }
        });
    }

    @Test
    @Requirement({"MPA-A-02", "DDP-3-11"})
    void segmentsThatComeAgainWithOtherOctetsChangeNothing() {
        AtomicInteger repeated = new AtomicInteger();
        Carrier forger = (packet, fromLeft, out) -> {
            out.deliver(packet, 0);
            if (fromLeft && packet.isTcp() && packet.payloadLength() > 0) {
                out.deliver(packet.withOtherPayload(), 1_000);
                repeated.incrementAndGet();
            }
        };
        withPair(forger, NetworkIT::writeAll);

        assertThat(repeated).hasValueGreaterThan(1000);
    }

    @Test
    @Requirement({"MPA-5.1-01", "MPA-3-03"})
    void segmentsOfALongMessageBeginWithAnFpduOfMulpdu() {
        AtomicInteger mulpdu = new AtomicInteger();
        Alignment alignment = new Alignment();
        Carrier observer = (packet, fromLeft, out) -> {
            if (fromLeft && packet.isTcp() && packet.payloadLength() > ETHERNET_MTU / 2) {
                alignment.add(packet, mulpdu.get());
            }
            out.deliver(packet, 0);
        };
        withPair(observer, pair -> {
            mulpdu.set(pair.link().initiator().info().mulpdu());
            writeAll(pair);
        });

        assertThat(mulpdu.get()).isBetween(ETHERNET_MTU - 80, ETHERNET_MTU - 46);
        alignment.assertRegainedAfterEachCut();
    }

    /**
     * Counts TCP segments that begin with an FPDU of MULPDU. A closing window cuts a segment, and the data that the
     * kernel has buffered after the cut stays unaligned: about 30 segments here, more if the window closes again. The
     * machine determines how often the window closes. The sender determines how long an unaligned stretch lasts.
     */
    private static final class Alignment {
        /** The longest unaligned stretch: three sockets' buffers full. A sender that stays unaligned sends thousands. */
        private static final int LONGEST_STRETCH = 500;

        private int segments;
        private int aligned;
        private int stretch;
        private int longestStretch;

        synchronized void add(IpPacket packet, int mulpdu) {
            segments++;
            if ((packet.payload(0) << 8 | packet.payload(1)) == mulpdu) {
                aligned++;
                stretch = 0;
            } else {
                longestStretch = Math.max(longestStretch, ++stretch);
            }
        }

        synchronized void assertRegainedAfterEachCut() {
            assertThat(segments).isGreaterThan(OCTETS / ETHERNET_MTU);
            assertThat(longestStretch).isLessThan(LONGEST_STRETCH);
            assertThat(aligned).isGreaterThan(segments / 2);
        }
    }

    @Test
    @Requirement("MPA-5.1-01")
    void segmentsBeginWithAnFpduAgainAfterAClosedWindowHasCutOne() {
        AtomicInteger mulpdu = new AtomicInteger();
        AtomicInteger full = new AtomicInteger();
        CountDownLatch cut = new CountDownLatch(1);
        Alignment behind = new Alignment();
        Carrier observer = (packet, fromLeft, out) -> {
            if (fromLeft && packet.isTcp() && packet.payloadLength() > 0 && mulpdu.get() > 0) {
                boolean isFull = packet.payloadLength() > mulpdu.get();
                if (isFull && cut.getCount() == 0) {
                    behind.add(packet, mulpdu.get());
                } else if (isFull) {
                    full.incrementAndGet();
                } else if (full.get() > 10) {
                    cut.countDown();
                }
            }
            out.deliver(packet, 0);
        };
        withPair(observer, pair -> {
            mulpdu.set(pair.link().initiator().info().mulpdu());
            pair.far().suspend();
            CompletableFuture<WorkCompletion> written;
            try {
                written = pair.link()
                        .initiator()
                        .writeAsync(pair.source().slice(), pair.target().address());
                Patience.await("the closed window has cut a segment").until(() -> cut.getCount() == 0);
            } finally {
                pair.far().resume();
            }
            Patience.get(written).orThrow();
            writeAll(pair);
        });

        behind.assertRegainedAfterEachCut();
    }

    @Test
    @Requirement({"RDMAP-6.2.1-05", "MPA-8-01", "DDP-6.2.2-02"})
    void aPeerThatIsReachedNoMoreIsALostConnection() {
        AtomicBoolean cut = new AtomicBoolean();
        Carrier cable = (packet, fromLeft, out) -> {
            if (!cut.get()) {
                out.deliver(packet, 0);
            }
        };
        SidecarProcess.Builder watchful = SidecarProcess.with("near").set("sidewarp.connection.keep-alive", "1s");
        withPair(LowerLayerProtocol.TCP, cable, watchful, pair -> {
            Events events = Events.of(pair.here());
            writeAll(pair);
            cut.set(true);
            Connection connection = pair.link().initiator();
            List<CompletableFuture<WorkCompletion>> outstanding = List.of(
                    connection.receiveAsync(pair.source().slice()),
                    connection.readAsync(pair.source().slice(), pair.target().address()));

            RdmaErrorInfo error = events.awaitError(connection);

            assertThat(List.of(error.layer(), error.type(), error.code())).containsExactly(2, 0, 1);
            assertThat(error.remote()).isFalse();
            assertThat(outstanding)
                    .allSatisfy(
                            work -> assertThatThrownBy(() -> Patience.get(work)).isInstanceOf(SidewarpException.class));
        });
    }

    @Test
    void aConnectionHasTheCongestionControlOfTheMachine() throws IOException {
        String machines = Files.readString(Path.of("/proc/sys/net/ipv4/tcp_congestion_control"))
                .strip();
        withPair(Carrier.FAITHFUL, pair -> {
            List<String> sockets = new ArrayList<>(pair.nearby());
            sockets.addAll(List.of("ss", "--tcp", "--info", "--numeric"));
            try (OwnedProcess ss = OwnedProcess.start("ss", sockets)) {
                assertThat(ss.awaitExit()).as(ss.text()).isZero();
                assertThat(ss.text()).contains(" " + machines + " wscale:");
            }
        });
    }

    @Test
    @Requirement("MPA-A-03")
    void packetsAskNotToBeFragmentedAndFragmentsAreTakenAllTheSame() {
        AtomicInteger withoutFlag = new AtomicInteger();
        AtomicInteger fragments = new AtomicInteger();
        Carrier router = (packet, fromLeft, out) -> {
            if (packet.isTcp() && packet.payloadLength() > 0) {
                withoutFlag.addAndGet(packet.dontFragment() ? 0 : 1);
                for (IpPacket fragment : packet.fragments(160)) {
                    out.deliver(fragment, 0);
                    fragments.incrementAndGet();
                }
            } else {
                out.deliver(packet, 0);
            }
        };
        withPair(router, NetworkIT::writeAll);

        assertThat(withoutFlag).hasValue(0);
        assertThat(fragments.get()).isGreaterThan(OCTETS / 160);
    }

    @Test
    @Requirement("DDP-A-01")
    void theReceiveWindowHoldsManySegmentsAndItsRightEdgeNeverMovesLeft() {
        AtomicInteger scale = new AtomicInteger();
        AtomicLong edge = new AtomicLong(-1);
        AtomicLong widest = new AtomicLong();
        AtomicInteger retreats = new AtomicInteger();
        Carrier observer = (packet, fromLeft, out) -> {
            if (!fromLeft && packet.isTcp() && packet.isSyn()) {
                scale.set(packet.windowScale());
            } else if (!fromLeft && packet.isTcp() && packet.hasAck() && !packet.isReset()) {
                long window = (long) packet.window() << scale.get();
                long next = packet.acknowledgment() + window & 0xffff_ffffL;
                if (edge.get() >= 0 && (int) (next - edge.get()) < 0) {
                    retreats.incrementAndGet();
                }
                edge.set(next);
                widest.accumulateAndGet(window, Math::max);
            }
            out.deliver(packet, 25_000);
        };
        withPair(observer, NetworkIT::writeAll);

        assertThat(retreats).hasValue(0);
        assertThat(widest.get()).isGreaterThan(256L * ETHERNET_MTU);
    }
}
