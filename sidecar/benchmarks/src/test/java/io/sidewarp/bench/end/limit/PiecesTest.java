// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.TransferPlan;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class PiecesTest {

    private static final TransferPlan PLAN = TransferPlan.stream(BenchOperation.WRITE, 4096, 8);

    private final Pieces sender = new Pieces(PLAN);
    private final ByteBuffer buffer = sender.outputBuffer();
    private final MemorySegment memory = MemorySegment.ofBuffer(buffer);

    @Test
    void aPieceSaysWhetherItIsTheLast() throws Exception {
        sender.write(buffer, memory, 0, false);
        sender.write(buffer, memory, sender.length(), true);

        Pieces receiver = new Pieces(PLAN);
        assertThat(receiver.read(buffer, memory, 0)).isFalse();
        assertThat(receiver.read(buffer, memory, sender.length())).isTrue();
    }

    @Test
    void theCrcIsChecked() {
        sender.write(buffer, memory, 0, true);
        buffer.put(100, (byte) (buffer.get(100) ^ 1));

        assertThatThrownBy(() -> new Pieces(PLAN).read(buffer, memory, 0))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("CRC");
    }

    @Test
    void aMessageIsMadeOfWholePieces() {
        assertThat(new Pieces(TransferPlan.stream(BenchOperation.WRITE, 1 << 20, 8)).perMessage())
                .isEqualTo(16);
        assertThatThrownBy(() -> new Pieces(TransferPlan.stream(BenchOperation.WRITE, 100_000, 8)))
                .hasMessageContaining("no multiple");
    }
}
