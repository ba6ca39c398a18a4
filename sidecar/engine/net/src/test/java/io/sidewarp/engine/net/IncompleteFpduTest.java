// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.conformance.Requirement;
import java.net.SocketException;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests peers that send the beginning of an FPDU, which this side keeps, and then are silent. */
@Requirement("MPA-7.1.2-13")
class IncompleteFpduTest {

    /** Timeout that is long enough for the test itself, which sends the rest of an FPDU in time. */
    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(2);

    private static final String CAUSE =
            "the peer left an FPDU incomplete for 2000 ms (sidewarp.connection.stall-timeout)";
    private static final int SHORT_ULPDU_LENGTH = 18;
    private static final byte[] SHORT_FPDU = TcpBed.fpdu(SHORT_ULPDU_LENGTH);
    /** Length of a ULPDU whose beginning stays in the buffer where it was read. */
    private static final int LONG_ULPDU_LENGTH = 8000;

    private static final byte[] LONG_FPDU = TcpBed.fpdu(LONG_ULPDU_LENGTH);

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(
            1,
            NetSettings.defaults()
                    .withStagingCapacity(NetSettings.MIN_STAGING_CAPACITY)
                    .withOutputBuffers(4, 1)
                    .withStallTimeout(STALL_TIMEOUT)
                    .withBusyPoll(Duration.ZERO));

    @AutoClose
    private final TcpBed bed = new TcpBed(loops);

    @ParameterizedTest(name = "{0} octets")
    @ValueSource(ints = {1, 2, 20})
    void theBeginningOfAShortOneEndsTheConnection(int octets) throws Exception {
        try (TcpBed.Connection connection = bed.connect()) {
            connection.send(Arrays.copyOf(SHORT_FPDU, octets));
            assertThat(connection.end().awaitClosed()).isEqualTo(CAUSE);
        }
    }

    @ParameterizedTest(name = "{0} octets")
    @ValueSource(ints = {1, 2, 20})
    void theBeginningOfAShortOneBehindTheRestOfALongOneEndsTheConnection(int octets) throws Exception {
        int begun = 5000;
        try (TcpBed.Connection connection = bed.connect()) {
            connection.send(SHORT_FPDU, Arrays.copyOf(LONG_FPDU, begun));
            assertThat(connection.end().nextUlpdu()).hasSize(SHORT_ULPDU_LENGTH);
            connection.send(Arrays.copyOfRange(LONG_FPDU, begun, LONG_FPDU.length), Arrays.copyOf(SHORT_FPDU, octets));
            assertThat(connection.end().nextUlpdu()).hasSize(LONG_ULPDU_LENGTH);
            assertThat(connection.end().awaitClosed()).isEqualTo(CAUSE);
        }
    }

    @ParameterizedTest(name = "{0} octets")
    @ValueSource(ints = {1, 2, 5000})
    void theBeginningOfALongOneEndsTheConnection(int octets) throws Exception {
        try (TcpBed.Connection connection = bed.connect()) {
            connection.send(Arrays.copyOf(LONG_FPDU, octets));
            assertThat(connection.end().awaitClosed()).isEqualTo(CAUSE);
        }
    }

    @Test
    void connectionEndsAlthoughTheHandlerOfLimitsThrows() throws Exception {
        loops.setLimitHandler(limit -> {
            throw new IllegalStateException("on purpose");
        });
        try (TcpBed.Connection connection = bed.connect()) {
            connection.send(Arrays.copyOf(SHORT_FPDU, 1));
            assertThat(connection.end().awaitClosed()).isEqualTo(CAUSE);
            assertThatThrownBy(() -> connection.in().read()).isInstanceOf(SocketException.class);
        }
    }
}
