// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.MpaLink;
import io.sidewarp.engine.testing.StreamPair;
import io.sidewarp.engine.verbs.CqeStatus;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the encoding of long messages on the wire below MPA. */
class BulkStreamTest {

    private static final int MESSAGE = 100_000;
    private static final int TAGGED_HEADER = 14;

    /** Octets of one long Write, at an EMSS of 1460, as TCP gets them. */
    private static byte[] octetsOfAWrite() {
        MpaOptions options = MpaOptions.defaults();
        try (StreamPair pair = new StreamPair(MpaLink.type(options, options))) {
            MpaLink link = (MpaLink) pair.link();
            link.mulpdu(Side.LEFT, 1454);
            link.watch(Side.LEFT);
            MemoryRegion target = pair.right().region(MESSAGE);
            pair.left()
                    .write(1)
                    .with(pair.left().region(MESSAGE))
                    .remote(target)
                    .post();
            pair.run();
            assertThat(pair.left().completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS);
            return link.watched();
        }
    }

    /** ULPDU_Length of each FPDU of a stream without Markers. */
    private static List<Integer> ulpduLengths(byte[] octets) {
        List<Integer> lengths = new ArrayList<>();
        ByteBuffer stream = ByteBuffer.wrap(octets);
        while (stream.hasRemaining()) {
            int length = Short.toUnsignedInt(stream.getShort());
            lengths.add(length);
            stream.position(stream.position() + length + (-(length + 2) & 3) + 4);
        }
        return lengths;
    }

    @Test
    @Requirement({"MPA-3-03", "MPA-3-01"})
    void eachUlpduButTheLastOfALongMessageIsAsLongAsTheMulpdu() {
        List<Integer> lengths = ulpduLengths(octetsOfAWrite());

        int payload = 1454 - TAGGED_HEADER;
        assertThat(lengths).hasSize(Math.ceilDiv(MESSAGE, payload));
        assertThat(lengths.subList(0, lengths.size() - 1)).containsOnly(1454);
        assertThat(lengths.getLast()).isEqualTo(TAGGED_HEADER + MESSAGE % payload);
    }

    @Test
    @Requirement("MPA-5.1-01")
    void cutIntoSegmentsOfTheEmssEachSegmentBeginsWithAnFpdu() {
        byte[] octets = octetsOfAWrite();

        ByteBuffer stream = ByteBuffer.wrap(octets);
        for (int segment = 0; segment < octets.length - 1460; segment += 1460) {
            assertThat(stream.getShort(segment)).isEqualTo((short) 1454);
        }
    }
}
