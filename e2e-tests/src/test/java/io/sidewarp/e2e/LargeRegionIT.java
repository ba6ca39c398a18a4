// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.client.Access;
import io.sidewarp.client.RegionOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.SidecarProcess;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests offsets that do not fit into 32 bits, signed and unsigned: in a file, in a region, and on the wire. */
@ExtendWith(Logs.class)
class LargeRegionIT {

    private static final long GIB = 1L << 30;

    /** The part of the file in front of the region stays sparse: only what is registered gets memory. */
    private static final long FILE_OFFSET = 3 * GIB;

    private static final long LENGTH = 2 * GIB + (4 << 20);

    private static final long BASE = 0xFFFF_F000L;

    private static final int OCTETS = 1 << 20;

    @Test
    void aRegionBeyondTwoGibibytesIsWrittenAndReadAtItsEnd() throws Exception {
        try (SidecarProcess sidecar = SidecarProcess.start("large")) {
            long room = Files.getFileStore(sidecar.volume()).getUsableSpace();
            assumeTrue(room > LENGTH + GIB, "the volume has room for " + room + " octets only");
            Path file = sidecar.volume().resolve("large");
            try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
                sparse.setLength(FILE_OFFSET + LENGTH);
            }
            try (SidewarpClient client = sidecar.client();
                    Session session = client.openSession("large");
                    SharedRegion region = session.openSharedRegion(
                            "large",
                            FILE_OFFSET,
                            LENGTH,
                            RegionOptions.of(Access.REMOTE_WRITE, Access.REMOTE_READ)
                                    .withBaseTaggedOffset(BASE))) {
                assertThat(region.length()).isEqualTo(LENGTH);
                SharedRegion source = session.createSharedRegion("source", OCTETS);
                SharedRegion copy = session.createSharedRegion("copy", OCTETS, Access.LOCAL_WRITE);
                Link link = Link.connect(session, session);
                // The middle of the second write is where an offset becomes negative as an int.
                for (long offset : new long[] {0, 2 * GIB - OCTETS / 2, LENGTH - OCTETS}) {
                    Pattern.fill(source.segment(), offset);

                    link.initiator().write(source.slice(), region.address().plus(offset));
                    link.initiator().read(copy.slice(), region.address().plus(offset));

                    assertThat(copy.segment().mismatch(source.segment()))
                            .as("read at %d", offset)
                            .isEqualTo(-1);
                    assertThat(region.segment().asSlice(offset, OCTETS).mismatch(source.segment()))
                            .as("written at %d", offset)
                            .isEqualTo(-1);
                    assertInFile(file, FILE_OFFSET + offset, source);
                }
            }
        }
    }

    private static void assertInFile(Path file, long at, SharedRegion expected) throws Exception {
        byte[] octets = new byte[OCTETS];
        try (RandomAccessFile reader = new RandomAccessFile(file.toFile(), "r")) {
            reader.seek(at);
            reader.readFully(octets);
        }
        assertThat(MemorySegment.ofArray(octets).mismatch(expected.segment())).isEqualTo(-1);
    }
}
