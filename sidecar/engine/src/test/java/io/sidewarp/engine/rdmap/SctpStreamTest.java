// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.testing.SctpLink;
import org.junit.jupiter.api.Nested;

/** Streams over the DDP adaptation of SCTP. */
class SctpStreamTest {

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
