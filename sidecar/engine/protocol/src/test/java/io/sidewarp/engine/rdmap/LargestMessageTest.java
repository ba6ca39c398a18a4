// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.RecordingSink.Completion;
import io.sidewarp.engine.testing.StreamPair;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.testing.WireLink;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Tests the longest possible message, between memory that is used repeatedly. */
class LargestMessageTest {

    private static final long LARGEST = 0xFFFF_FFFFL;
    private static final int BLOCK = 1 << 20;

    /** Uses one block of memory as often as the message needs. The message ends at the end of the block. */
    private static void post(WqeQueue queue, WrOpcode opcode, MemoryRegion block) {
        long sequence = queue.claim();
        Wqe wqe = queue.slot(sequence);
        wqe.set(new Wr().reset(1, opcode));
        for (long left = LARGEST; left > 0; ) {
            long part = Math.min(left, BLOCK);
            wqe.addSge(block, BLOCK - part, part);
            left -= part;
        }
        queue.publish(sequence);
    }

    @Test
    @Requirement({"DDP-5.2-01", "DDP-5.2-02", "DDP-5.4-02", "RDMAP-5.3-01"})
    void aSendOf4GiBLessOneOctetArrivesWhole() {
        try (StreamPair pair = new StreamPair(WireLink::connect)) {
            WireLink wire = (WireLink) pair.link();
            wire.mulpdu(Side.LEFT, 64_768);
            wire.end(Side.LEFT).room(64);
            MemoryRegion source = pair.left().region(BLOCK);
            MemoryRegion buffer = pair.right().region(BLOCK);
            TestMemory.put(source, BLOCK - 3, new byte[] {1, 2, 3});
            post(pair.right().receiveQueue(), WrOpcode.RECEIVE, buffer);

            post(pair.left().sendQueue(), WrOpcode.SEND, source);
            pair.left().stream().onWorkPosted();
            pair.run();
            assertThat(pair.right().completions().receives())
                    .extracting(Completion::length)
                    .containsExactly(LARGEST);
            assertThat(pair.left().completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS);
            assertThat(TestMemory.get(buffer, BLOCK - 4, 4)).containsExactly(0, 1, 2, 3);
            assertThat(pair.right().stream().counters().octetsReceived()).isEqualTo(LARGEST);
            assertThat(pair.left().stream().counters().segmentsSent()).isEqualTo((LARGEST + 64_749) / 64_750);
        }
    }
}
