// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Bytes of a connection that wait for the rest of their record. Belongs to one event loop. */
final class HeldInput {

    private final TlsBuffers buffers;
    private byte @Nullable [] held;
    private int octets;

    HeldInput(TlsBuffers buffers) {
        this.buffers = buffers;
    }

    /**
     * Returns the held bytes, which are not held any more, and the input behind them.
     *
     * @param length bytes in {@link TlsBuffers#room}
     */
    ByteBuffer with(int length) {
        ByteBuffer work = buffers.work().limit(TlsBuffers.MAX_HELD + length);
        byte[] before = held;
        if (before == null) {
            return work.position(TlsBuffers.MAX_HELD);
        }
        int begin = TlsBuffers.MAX_HELD - octets;
        release();
        return work.put(begin, before, 0, octets).position(begin);
    }

    /** Holds the remaining bytes. Returns false if there are too many. */
    boolean hold(ByteBuffer source) {
        int length = source.remaining();
        if (length > TlsBuffers.MAX_HELD) {
            return false;
        }
        if (length > 0) {
            byte[] kept = buffers.lend(length);
            source.get(kept, 0, length);
            held = kept;
            octets = length;
        }
        return true;
    }

    void release() {
        if (held != null) {
            buffers.release(held);
            held = null;
        }
    }
}
