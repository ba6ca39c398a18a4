// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.memory.WireBuffer;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32c over parts of a {@link WireBuffer} (RFC 5044 section 4.4). Allocates nothing per call; not thread-safe. */
final class Crc32c {

    private final CRC32C crc = new CRC32C();

    /** Returns the CRC32c value of the bytes. */
    int of(WireBuffer buffer, int offset, int length) {
        ByteBuffer nio = buffer.nio();
        nio.limit(offset + length).position(offset);
        crc.reset();
        crc.update(nio);
        // Absolute accessors of the buffer check against the limit, so the limit must be restored.
        nio.clear();
        return (int) crc.getValue();
    }
}
