// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.RandomTraffic;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.StreamPair;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.testing.WireLink;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Tests streams over the wire in memory. */
class WireStreamTest {

    @Nested
    class Transfers extends TransferSuite {
        Transfers() {
            super(WireLink::connect);
        }
    }

    @Nested
    class Extensions extends ExtensionSuite {
        Extensions() {
            super(WireLink::connect);
        }
    }

    @Nested
    class Endings extends EndingSuite {
        Endings() {
            super(WireLink::connect);
        }
    }

    @Test
    @Requirement("RDMAP-5.5-09")
    void aWriteCompletesBeforeThePeerHasIt() {
        try (StreamPair pair = new StreamPair(WireLink::connect)) {
            WireLink wire = (WireLink) pair.link();
            wire.hold(Side.RIGHT, true);
            MemoryRegion target = pair.right().region(5);
            pair.left()
                    .write(1)
                    .with(pair.left().memory().regionWith(hex("0102030405")))
                    .remote(target)
                    .post();

            pair.run();

            assertThat(pair.left().completions().sendIds()).containsExactly(1L);
            assertThat(TestMemory.get(target)).containsOnly(0);
            wire.hold(Side.RIGHT, false);
            pair.run();
            assertThat(TestMemory.get(target)).isEqualTo(hex("0102030405"));
        }
    }

    @Test
    @Requirement({"RDMAP-6.1-01", "RDMAP-4.1-02", "RDMAP-4.1-05", "RDMAP-4.1-06", "RDMAP-4.1-08", "DDP-4.1-03"})
    void nothingButWellFormedRdmaMessagesIsSent() {
        try (StreamPair pair = new StreamPair(WireLink::connect)) {
            WireLink wire = ((WireLink) pair.link()).watch();
            RandomTraffic traffic = new RandomTraffic(pair, 99);
            wire.shake(traffic.random());
            traffic.run(300);
            traffic.verify();

            for (Side side : Side.values()) {
                assertThat(wire.sentBy(side)).hasSizeGreaterThan(300).allSatisfy(WireStreamTest::assertWellFormed);
                assertMessagesNotInterleaved(wire.sentBy(side));
            }
        }
    }

    private static void assertWellFormed(Segment segment) {
        assertThat(segment.control() & 0x3F).isEqualTo(1);
        assertThat(segment.ulpControl() & 0xF0).isEqualTo(0x40);
        assertThat(segment.opcode()).isIn(0, 1, 2, 3, 4, 5, 6, 8, 9, 0xA, 0xB);
        assertThat(segment.tagged()).isEqualTo(segment.opcode() == 0 || segment.opcode() == 2);
        if (!segment.tagged()) {
            int queue = switch (segment.opcode()) {
                case 1, 0xA -> 1;
                case 0xB -> 3;
                default -> 0;
            };
            assertThat(segment.qn()).isEqualTo(queue);
            if (segment.opcode() != 4 && segment.opcode() != 6) {
                assertThat(segment.ulpWord()).isZero();
            }
        }
    }

    private static void assertMessagesNotInterleaved(List<Segment> segments) {
        Segment before = null;
        int[] nextMsn = {1, 1, 1, 1};
        for (Segment segment : segments) {
            if (before == null || before.last()) {
                if (!segment.tagged()) {
                    assertThat(segment.msn()).isEqualTo(nextMsn[segment.qn()]++);
                    assertThat(segment.mo()).isZero();
                }
            } else {
                assertThat(segment.ulpControl()).isEqualTo(before.ulpControl());
                if (segment.tagged()) {
                    assertThat(segment.stag()).isEqualTo(before.stag());
                    assertThat(segment.to()).isEqualTo(before.to() + before.payload().length);
                } else {
                    assertThat(segment.msn()).isEqualTo(before.msn());
                    assertThat(segment.mo()).isEqualTo(before.mo() + before.payload().length);
                }
            }
            before = segment;
        }
        assertThat(before.last()).isTrue();
    }
}
