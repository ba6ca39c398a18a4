// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests sockets that accept no more output because the peer is gone, but still hold received data. */
class OutputFailureTest {

    private static final int ULPDU_LENGTH = 18;
    private static final int LONG_ULPDU_LENGTH = 1000;
    /** More than sockets hold. */
    private static final int LONG_ULPDUS = 64 << 10;

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(1, NetSettings.defaults());

    @AutoClose
    private final TcpBed bed = new TcpBed(loops);

    /** Sends its last FPDU and resets, which the loop, if it is the caller, learns at the same time. */
    private static void leave(TcpBed.Connection connection) throws IOException {
        connection.send(TcpBed.fpdu(ULPDU_LENGTH), TcpBed.fpdu(ULPDU_LENGTH));
        connection.reset();
    }

    private void assertBothArrivedBeforeTheLoss(TcpBed.Connection connection) throws Exception {
        assertThat(connection.end().awaitClosed()).contains("reset");
        assertThat(connection.end().waitingUlpdus()).isEqualTo(2);
    }

    @Test
    void whatAPeerSentBeforeItsResetArrivesWhenAPendingWriteFailsFirst() throws Exception {
        try (TcpBed.Connection connection = bed.connect()) {
            connection.send(TcpBed.fpdu(ULPDU_LENGTH));
            assertThat(connection.end().nextUlpdu()).hasSize(ULPDU_LENGTH);
            for (int i = 0; i < LONG_ULPDUS; i++) {
                connection.end().sendFrom(bed.loop(), new byte[LONG_ULPDU_LENGTH]);
            }

            Awaitility.await()
                    .until(() -> bed.loop()
                            .submit(() -> {
                                boolean full = !connection.channel().isWritable();
                                if (full) {
                                    leave(connection);
                                }
                                return full;
                            })
                            .get(TcpBed.PATIENCE_MILLIS, TimeUnit.MILLISECONDS));

            assertBothArrivedBeforeTheLoss(connection);
        }
    }

    @Test
    void whatAPeerSentBeforeItsResetArrivesWhenANewWriteFailsFirst() throws Exception {
        try (TcpBed.Connection connection = bed.connect()) {
            connection.send(TcpBed.fpdu(ULPDU_LENGTH));
            assertThat(connection.end().nextUlpdu()).hasSize(ULPDU_LENGTH);

            bed.loop()
                    .submit(() -> {
                        leave(connection);
                        connection.end().sendFrom(bed.loop(), new byte[ULPDU_LENGTH]);
                        return null;
                    })
                    .get(TcpBed.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);

            assertBothArrivedBeforeTheLoss(connection);
        }
    }
}
