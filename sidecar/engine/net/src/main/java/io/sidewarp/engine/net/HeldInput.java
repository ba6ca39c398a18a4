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

    /** Returns the array for decryption. Its position is behind the place of the held bytes, which are not there yet. */
    ByteBuffer room() {
        return buffers.work().position(held == null ? 0 : octets);
    }

    /** Puts the held bytes at the beginning of the array. They are not held any more. */
    void moveTo(ByteBuffer work) {
        if (held != null) {
            work.put(0, held, 0, octets);
            release();
        }
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
