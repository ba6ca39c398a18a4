// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.SctpLink;
import io.sidewarp.engine.testing.StreamPair;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Tests streams over the DDP adaptation of SCTP. */
class SctpStreamTest {

    @Test
    @Requirement({"SCTP-6.2-02", "SCTP-11.3-03", "SCTP-5.2.2-01"})
    void theTerminateOfRdmapGoesOutBeforeThatOfTheSession() {
        try (StreamPair pair = new StreamPair(SctpLink.type())) {
            pair.left()
                    .write(1)
                    .with(pair.left().region(8))
                    .remote(0x01020304, 0)
                    .post();

            pair.run();

            List<String> sent = ((SctpLink) pair.link()).sent(Side.RIGHT);
            assertThat(sent).hasSize(3);
            // An untagged DDP Segment, RDMAP opcode 7, queue number 2.
            assertThat(sent.get(1)).startsWith("0:16 00 01 41 47 00 00 00 00 00 00 00 02");
            assertThat(sent.get(2)).isEqualTo("0:17 00 02 00 04");
        }
    }

    @Nested
    class Transfers extends TransferSuite {
        Transfers() {
            super(SctpLink.type());
        }
    }

    @Nested
    class Extensions extends ExtensionSuite {
        Extensions() {
            super(SctpLink.type());
        }
    }

    @Nested
    class Endings extends EndingSuite {
        Endings() {
            super(SctpLink.type());
        }
    }

    @Nested
    class TransfersOfPeers extends TransferSuite {
        TransfersOfPeers() {
            super(SctpLink.enhancedType());
        }
    }

    @Nested
    class EndingsOfPeers extends EndingSuite {
        EndingsOfPeers() {
            super(SctpLink.enhancedType());
        }
    }
}
