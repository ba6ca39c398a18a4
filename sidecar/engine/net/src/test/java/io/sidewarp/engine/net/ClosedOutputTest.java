// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests connections whose output this side has ended. */
class ClosedOutputTest {

    private static final byte[] FPDU = TcpBed.fpdu(18);
    private static final byte[] LONG_ULPDU = new byte[1000];
    /** More than sockets hold. */
    private static final int LONG_ULPDUS = 64 << 10;

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(
            1, NetSettings.defaults().withLingerTimeout(Duration.ofMinutes(1)).withBusyPoll(Duration.ZERO));

    @AutoClose
    private final TcpBed bed = new TcpBed(loops);

    private <T> T onLoop(Callable<T> task) throws Exception {
        return bed.loop().submit(task).get(TcpBed.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** As where a request that would be answered comes together with a Terminate. */
    @Test
    void outputThatWasWantedBeforeTheCloseKeepsTheLoopNoLongerBusy() throws Exception {
        try (TcpBed.Connection connection = bed.connect()) {
            connection.end().onNextUlpdu(() -> {
                connection.end().send(FPDU, 0);
                connection.end().close();
            });
            connection.send(FPDU);

            assertThat(connection.in().read()).isEqualTo(-1);
            // A task that restarts itself would always wait behind this one.
            Awaitility.await().until(() -> onLoop(() -> ((SingleThreadEventExecutor) bed.loop()).pendingTasks() == 0));
        }
    }

    @Test
    void anAbortWhileTheSocketIsFullIsNoFailureOfTheConnection() throws Exception {
        try (TcpBed.Connection connection = bed.connectToSend()) {
            bed.loop().execute(() -> connection.end().send(LONG_ULPDU, LONG_ULPDUS));
            Awaitility.await().until(() -> onLoop(() -> !connection.channel().isWritable()));
            bed.loop().execute(connection.end()::abort);

            assertThat(connection.end().awaitClosed()).isEqualTo("aborted by this side");
        }
    }
}
