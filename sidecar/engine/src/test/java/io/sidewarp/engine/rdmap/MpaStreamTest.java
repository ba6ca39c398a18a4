// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.MpaLink;
import org.junit.jupiter.api.Nested;

/** Streams over MPA, with everything that start-up can agree on. */
class MpaStreamTest {

    private static Link.Type crc() {
        return MpaLink.type(MpaOptions.defaults(), MpaOptions.defaults());
    }

    private static Link.Type markers() {
        MpaOptions markers = MpaOptions.defaults().withReceiveMarkers(true);
        return MpaLink.type(markers, markers);
    }

    private static Link.Type noCrcAndMarkersInOneDirection() {
        MpaOptions plain = MpaOptions.defaults().withCrc(false);
        return MpaLink.type(plain.withReceiveMarkers(true), plain);
    }

    @Nested
    class TransfersWithCrc extends TransferSuite {
        TransfersWithCrc() {
            super(crc());
        }
    }

    @Nested
    class EndingsWithCrc extends EndingSuite {
        EndingsWithCrc() {
            super(crc());
        }
    }

    @Nested
    class TransfersWithMarkers extends TransferSuite {
        TransfersWithMarkers() {
            super(markers());
        }
    }

    @Nested
    class EndingsWithMarkers extends EndingSuite {
        EndingsWithMarkers() {
            super(markers());
        }
    }

    @Nested
    class TransfersWithoutCrcAndWithMarkersInOneDirection extends TransferSuite {
        TransfersWithoutCrcAndWithMarkersInOneDirection() {
            super(noCrcAndMarkersInOneDirection());
        }
    }

    @Nested
    class EndingsWithoutCrcAndWithMarkersInOneDirection extends EndingSuite {
        EndingsWithoutCrcAndWithMarkersInOneDirection() {
            super(noCrcAndMarkersInOneDirection());
        }
    }
}
