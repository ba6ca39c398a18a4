// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests that a loop keeps nothing of an ended connection, although its timers would have run for a minute. */
class EndedConnectionTest {

    private static final byte[] FPDU = TcpBed.fpdu(18);
    private static final byte[] LONG_ULPDU = new byte[1000];
    /** More than sockets hold. */
    private static final int LONG_ULPDUS = 64 << 10;

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(
            1, NetSettings.defaults().withLingerTimeout(Duration.ofMinutes(1)).withBusyPoll(Duration.ZERO));

    @AutoClose
    private final TcpBed bed = new TcpBed(loops);

    /** Events of a connection up to its end. */
    private interface Life {
        void live(TcpBed.Connection connection) throws Exception;
    }

    /** A method of its own, so that its frame holds the connection no longer than necessary. */
    private WeakReference<RecordingEnd> after(Life life) throws Exception {
        try (TcpBed.Connection connection = bed.connectToSend()) {
            life.live(connection);
            connection.end().awaitClosed();
            return new WeakReference<>(connection.end());
        }
    }

    private static void assertForgotten(WeakReference<RecordingEnd> end) {
        Awaitility.await().until(() -> {
            System.gc();
            return end.refersTo(null);
        });
    }

    @Test
    void whosePeerLeftInsideAnFpdu() throws Exception {
        assertForgotten(after(connection -> {
            connection.send(FPDU, new byte[1]);
            connection.end().nextUlpdu();
            connection.reset();
        }));
    }

    @Test
    void whosePeerLeftWithoutReading() throws Exception {
        assertForgotten(after(connection -> {
            bed.loop().execute(() -> connection.end().send(LONG_ULPDU, LONG_ULPDUS));
            Awaitility.await()
                    .until(() -> bed.loop()
                            .submit(() -> !connection.channel().isWritable())
                            .get(TcpBed.PATIENCE_MILLIS, TimeUnit.MILLISECONDS));
            connection.reset();
        }));
    }

    @Test
    void whichBothSidesClosedInOrder() throws Exception {
        assertForgotten(after(connection -> {
            bed.loop().execute(connection.end()::close);
            connection.in().readAllBytes();
            connection.close();
        }));
    }
}
