// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests connections of a loop that has one output buffer for all of them. */
class OutputBufferTest {

    private static final int ULPDU_LENGTH = 18;
    private static final byte[] FPDU = TcpBed.fpdu(ULPDU_LENGTH);
    private static final int LONG_ULPDU_LENGTH = 1000;
    private static final int OCTETS = 64 << 10;
    /** More than sockets hold. */
    private static final int LONG_ULPDUS = 64 << 10;
    /** More than a short buffer holds, and than is written in a row. */
    private static final int OTHER_ULPDUS = 100;
    /** Half of {@link #LONG_ULPDUS}. */
    private static final int READS = LONG_ULPDUS / 2 * LONG_ULPDU_LENGTH / OCTETS;

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(
            1,
            NetSettings.defaults()
                    .withStagingCapacity(NetSettings.MIN_STAGING_CAPACITY)
                    .withOutputBuffers(1, 1)
                    .withBusyPoll(Duration.ZERO));

    @AutoClose
    private final TcpBed bed = new TcpBed(loops);

    private void send(TcpBed.Connection connection) {
        connection.end().sendFrom(bed.loop(), new byte[ULPDU_LENGTH]);
    }

    private <T> T onLoop(Callable<T> task) throws Exception {
        return bed.loop().submit(task).get(TcpBed.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** The peer of one connection leaves, and that of another sends something. */
    private static void leave(TcpBed.Connection one, TcpBed.Connection other) {
        try {
            one.reset();
            other.send(FPDU);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aConnectionThatFailsToProduceOutputLeavesTheBufferToOthers() throws Exception {
        loops.setFaultHandler(fault -> {});
        try (TcpBed.Connection failing = bed.connectToSend();
                TcpBed.Connection other = bed.connectToSend()) {
            failing.end().failToProduce();
            send(failing);
            assertThat(failing.end().awaitClosed()).contains("this side failed");

            send(other);
            assertThat(other.in().readNBytes(FPDU.length)).isEqualTo(FPDU);
        }
    }

    @Test
    void aConnectionThatFailsWhenItsTurnHasComeLeavesTheBufferToTheNext() throws Exception {
        loops.setFaultHandler(fault -> {});
        try (TcpBed.Connection full = bed.connectToSend();
                TcpBed.Connection failing = bed.connectToSend();
                TcpBed.Connection next = bed.connectToSend()) {
            for (int i = 0; i < LONG_ULPDUS; i++) {
                full.end().sendFrom(bed.loop(), new byte[LONG_ULPDU_LENGTH]);
            }
            failing.end().onNextUlpdu(() -> {
                throw new IllegalStateException("told to fail");
            });
            Awaitility.await()
                    .until(() -> onLoop(() -> {
                        boolean isFull = !full.channel().isWritable();
                        if (isFull) {
                            send(failing);
                            send(next);
                            // Once both wait; and then the loop learns of both events before it does anything else.
                            new DeferredTask(bed.loop(), 1, () -> leave(full, failing)).request();
                        }
                        return isFull;
                    }));

            assertThat(next.in().readNBytes(FPDU.length)).isEqualTo(FPDU);
        }
    }

    @Test
    void aPeerThatReadsNothingKeepsNoOtherConnectionWaiting() throws Exception {
        try (TcpBed.Connection full = bed.connectToSend()) {
            bed.loop().execute(() -> full.end().send(new byte[LONG_ULPDU_LENGTH], LONG_ULPDUS));
            Awaitility.await().until(() -> onLoop(() -> !full.channel().isWritable()));

            try (TcpBed.Connection other = bed.connectToSend()) {
                bed.loop().execute(() -> other.end().send(new byte[LONG_ULPDU_LENGTH], OTHER_ULPDUS));
                byte[] fpdu = TcpBed.fpdu(LONG_ULPDU_LENGTH);
                for (int i = 0; i < OTHER_ULPDUS; i++) {
                    assertThat(other.in().readNBytes(fpdu.length)).isEqualTo(fpdu);
                }
            }
            assertThat(onLoop(full.channel()::isWritable)).isFalse();
        }
    }

    @Test
    void aStreamThatTheSocketIsAlwaysFullOfLeavesTheBufferToOthersInTheirTurn() throws Exception {
        try (TcpBed.Connection stream = bed.connectToSend();
                TcpBed.Connection other = bed.connectToSend()) {
            stream.channel().config().setSendBufferSize(OCTETS);
            bed.loop().execute(() -> stream.end().send(new byte[LONG_ULPDU_LENGTH], LONG_ULPDUS));
            Awaitility.await().until(() -> onLoop(() -> !stream.channel().isWritable()));
            send(other);

            int reads = 0;
            while (other.in().available() == 0 && reads < READS) {
                stream.in().readFully(new byte[OCTETS]);
                reads++;
            }
            assertThat(other.in().readNBytes(FPDU.length)).isEqualTo(FPDU);
            assertThat(onLoop(stream.end()::unsentUlpdus)).isPositive();
        }
    }
}
