// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests a peer that reads so slowly that the loop's only output buffer would stay in its full socket for long. */
class OutputStallTest {

    private static final int ULPDU_LENGTH = 18;
    private static final byte[] FPDU = TcpBed.fpdu(ULPDU_LENGTH);
    private static final int LONG_ULPDU_LENGTH = 1000;
    /** More than sockets hold. */
    private static final int LONG_ULPDUS = 64 << 10;
    /**
     * Size of this side's socket buffer. It is small, so that the socket soon accepts more output when the peer reads.
     */
    private static final int SEND_BUFFER = 64 << 10;

    private static final int LITTLE = 16 << 10;
    /** A buffer would take 20 s. */
    private static final Duration BETWEEN = Duration.ofMillis(400);

    private static final Duration STALL = Duration.ofSeconds(2);

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(
            1,
            NetSettings.defaults()
                    .withStagingCapacity(NetSettings.MIN_STAGING_CAPACITY)
                    .withOutputBuffers(1, 1)
                    .withStallTimeout(STALL)
                    .withBusyPoll(Duration.ZERO));

    @AutoClose
    private final TcpBed bed = new TcpBed(loops);

    @Test
    void aPeerThatReadsLessThanABufferInTheStallTimeLosesTheConnectionWhenOthersWait() throws Exception {
        try (TcpBed.Connection slow = bed.connectToSend();
                TcpBed.Connection other = bed.connectToSend()) {
            slow.peer().setReceiveBufferSize(LITTLE);
            slow.channel().config().setSendBufferSize(SEND_BUFFER);
            bed.loop().execute(() -> slow.end().send(new byte[LONG_ULPDU_LENGTH], LONG_ULPDUS));
            Awaitility.await()
                    .until(() -> bed.loop()
                            .submit(() -> !slow.channel().isWritable())
                            .get());
            Thread reading = Thread.ofVirtual().start(() -> readLittleAtATime(slow));

            other.end().sendFrom(bed.loop(), new byte[ULPDU_LENGTH]);

            assertThat(slow.end().awaitClosed()).contains("did not read").contains("others wait");
            assertThat(other.in().readNBytes(FPDU.length)).isEqualTo(FPDU);
            reading.join();
        }
    }

    /** Until the connection is over. */
    private static void readLittleAtATime(TcpBed.Connection connection) {
        try {
            while (connection.in().readNBytes(LITTLE).length == LITTLE) {
                Thread.sleep(BETWEEN);
            }
        } catch (IOException e) {
            // This side has reset it.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
