// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests peers that begin long FPDUs when no further connection can keep its FPDU in the buffer where it was read. */
class ReassemblyTest {

    private static final int SHORT_ULPDU_LENGTH = 18;
    private static final byte[] SHORT_FPDU = TcpBed.fpdu(SHORT_ULPDU_LENGTH);
    private static final int LONG_ULPDU_LENGTH = 65_276;
    private static final byte[] LONG_FPDU = TcpBed.fpdu(LONG_ULPDU_LENGTH);
    /** Number of bytes of a long FPDU after which it is reassembled in a buffer of its full size. */
    private static final int MOST = 40_000;

    private static final int PEERS = 100;

    private final BlockingQueue<PeerLimit> limits = new LinkedBlockingQueue<>();

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(
            1,
            NetSettings.defaults()
                    .withStagingCapacity(NetSettings.MIN_STAGING_CAPACITY)
                    .withOutputBuffers(1, 1)
                    .withReassemblyOctets(128 << 10));

    @AutoClose
    private final TcpBed bed = new TcpBed(loops);

    /** A connection on which so many octets of a long FPDU have been read, or some of them. */
    private TcpBed.Connection begin(int octets) throws Exception {
        TcpBed.Connection connection = bed.connect();
        connection.send(SHORT_FPDU, Arrays.copyOf(LONG_FPDU, octets));
        assertThat(connection.end().nextUlpdu()).hasSize(SHORT_ULPDU_LENGTH);
        return connection;
    }

    private static void complete(TcpBed.Connection connection) throws Exception {
        connection.send(Arrays.copyOfRange(LONG_FPDU, MOST, LONG_FPDU.length));
        assertThat(connection.end().nextUlpdu()).hasSize(LONG_ULPDU_LENGTH);
    }

    @Test
    void aHeaderTakesLittleMemory() throws Exception {
        List<TcpBed.Connection> peers = new ArrayList<>();
        try {
            peers.add(begin(MOST));
            long before = directOctets();
            for (int i = 0; i < PEERS; i++) {
                peers.add(begin(Short.BYTES));
            }

            assertThat(directOctets() - before).isLessThan(PEERS * 8L << 10);
        } finally {
            for (TcpBed.Connection peer : peers) {
                peer.reset();
            }
        }
    }

    private static long directOctets() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    @Test
    void whoHasBegunAnFpduFirstGivesWayWhenAllTogetherHaveTooMuch() throws Exception {
        loops.setLimitHandler(limits::add);
        try (TcpBed.Connection kept = begin(MOST);
                TcpBed.Connection oldest = begin(MOST);
                TcpBed.Connection second = begin(MOST);
                TcpBed.Connection third = begin(MOST)) {
            assertThat(oldest.end().awaitClosed())
                    .isEqualTo("the peer left an FPDU incomplete while others needed its memory");
            assertThat(limits).containsExactly(PeerLimit.INCOMPLETE_FPDU);

            complete(third);
            complete(second);
            complete(kept);
        }
    }

    @Test
    void whoCompletesItsFpdusIsNeverTheOldest() throws Exception {
        try (TcpBed.Connection kept = begin(MOST);
                TcpBed.Connection busy = begin(MOST);
                TcpBed.Connection silent = begin(MOST)) {
            busy.send(Arrays.copyOfRange(LONG_FPDU, MOST, LONG_FPDU.length), Arrays.copyOf(LONG_FPDU, MOST));
            assertThat(busy.end().nextUlpdu()).hasSize(LONG_ULPDU_LENGTH);

            try (TcpBed.Connection next = begin(MOST)) {
                assertThat(silent.end().awaitClosed()).contains("while others needed its memory");
                complete(busy);
                complete(next);
                complete(kept);
            }
        }
    }
}
