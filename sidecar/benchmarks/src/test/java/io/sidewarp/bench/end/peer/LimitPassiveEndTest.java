// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LimitPassiveEndTest {

    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final TransferPlan PLAN = TransferPlan.stream(Operation.WRITE, 4096, 8);
    private static final int HEADER = 16;

    /** Sends a piece, and returns the acknowledgement, or -1 if there is none. */
    private static int send(int last, int changed) throws Exception {
        try (LimitPassiveEnd end = new LimitPassiveEnd(PLAN, LOOPBACK);
                Socket socket = new Socket(LOOPBACK, end.port())) {
            ByteBuffer piece = ByteBuffer.allocate(HEADER + PLAN.size() + Integer.BYTES);
            piece.putInt(0, last);
            CRC32C crc = new CRC32C();
            crc.update(piece.array(), 0, HEADER + PLAN.size());
            piece.putInt(HEADER + PLAN.size(), (int) crc.getValue() ^ changed);
            socket.getOutputStream().write(piece.array());
            socket.shutdownOutput();
            return read(socket);
        }
    }

    private static int read(Socket socket) {
        try {
            return socket.getInputStream().read();
        } catch (IOException e) {
            return -1;
        }
    }

    @Test
    void lastPieceIsAcknowledged() throws Exception {
        assertThat(send(1, 0)).isZero();
        assertThat(send(0, 0)).isEqualTo(-1);
    }

    @Test
    void crcIsChecked() throws Exception {
        assertThat(send(1, 1)).isEqualTo(-1);
    }

    @Test
    void messageConsistsOfWholePieces() throws Exception {
        TransferPlan plan = TransferPlan.stream(Operation.WRITE, 100_000, 8);
        try (LimitPassiveEnd end = new LimitPassiveEnd(plan, LOOPBACK)) {
            InetSocketAddress address = new InetSocketAddress(LOOPBACK, end.port());
            assertThatThrownBy(() -> new LimitActiveEnd(plan, address)).hasMessageContaining("no multiple");
        }
    }
}
