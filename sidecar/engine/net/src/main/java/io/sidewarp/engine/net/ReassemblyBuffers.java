// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.sidewarp.engine.memory.WireBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Memory in which the connections of a loop reassemble FPDUs that arrive in pieces. Each connection may have a small
 * buffer.
 *
 * <p>When the larger buffers exceed the limit, the connection that has held its buffer for the longest time is ended. A
 * peer that does not complete its FPDU therefore keeps no other out. Only that loop may use the memory. Once warm,
 * nothing is allocated.
 */
final class ReassemblyBuffers {

    private static final int SMALL_SHIFT = 12;
    private static final int SMALL = 1 << SMALL_SHIFT;
    private static final int CLASSES = 6;
    private static final int KEPT_PER_CLASS = 16;

    /** Large buffer of one connection, and its place among the others by age. */
    static final class Share {

        private final Runnable giveWay;
        private @Nullable WireBuffer large;
        private @Nullable Share older;
        private @Nullable Share younger;

        /** @param giveWay ends the connection, which returns its buffer */
        Share(Runnable giveWay) {
            this.giveWay = giveWay;
        }
    }

    private final ArrayDeque<WireBuffer>[] spare;
    private final long limit;
    private long octets;
    private @Nullable Share oldest;
    private @Nullable Share youngest;

    /** @param limit bytes of all large buffers */
    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    ReassemblyBuffers(long limit) {
        this.limit = limit;
        this.spare = new ArrayDeque[CLASSES];
        for (int i = 0; i < CLASSES; i++) {
            spare[i] = new ArrayDeque<>();
        }
    }

    /** Returns a buffer of at least the given number of bytes for a connection that has none. */
    WireBuffer acquire(Share share, int capacity) {
        WireBuffer buffer = take(capacity);
        account(share, buffer);
        return buffer;
    }

    /** Exchanges a buffer for a larger one that begins with the same bytes. */
    WireBuffer grow(Share share, WireBuffer buffer, int held, int capacity) {
        WireBuffer larger = take(capacity);
        larger.putBytes(0, buffer, 0, held);
        if (share.large == buffer) {
            // The share keeps its age.
            share.large = larger;
            octets += larger.capacity() - buffer.capacity();
        } else {
            account(share, larger);
        }
        keep(buffer);
        return larger;
    }

    void release(Share share, WireBuffer buffer) {
        if (share.large == buffer) {
            share.large = null;
            octets -= buffer.capacity();
            unlink(share);
        }
        keep(buffer);
    }

    private WireBuffer take(int capacity) {
        int shift = Math.max(SMALL_SHIFT, Integer.SIZE - Integer.numberOfLeadingZeros(capacity - 1));
        int sizeClass = shift - SMALL_SHIFT;
        WireBuffer buffer = sizeClass < CLASSES ? spare[sizeClass].pollFirst() : null;
        return buffer == null ? WireBuffer.allocate(1 << shift) : buffer;
    }

    private void keep(WireBuffer buffer) {
        int sizeClass = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(buffer.capacity()) - SMALL_SHIFT;
        if (sizeClass >= 0 && sizeClass < CLASSES && spare[sizeClass].size() < KEPT_PER_CLASS) {
            spare[sizeClass].addFirst(buffer);
        }
    }

    private void account(Share share, WireBuffer buffer) {
        if (buffer.capacity() == SMALL) {
            return;
        }
        share.large = buffer;
        octets += buffer.capacity();
        share.older = youngest;
        if (youngest == null) {
            oldest = share;
        } else {
            youngest.younger = share;
        }
        youngest = share;
    }

    private void unlink(Share share) {
        Share before = share.older;
        Share behind = share.younger;
        if (before == null) {
            oldest = behind;
        } else {
            before.younger = behind;
        }
        if (behind == null) {
            youngest = before;
        } else {
            behind.older = before;
        }
        share.older = null;
        share.younger = null;
    }

    /**
     * Ends connections, oldest buffer first, while the buffers exceed the limit. Must not be called from within a
     * connection.
     */
    void keepWithinLimit() {
        Share last = null;
        Share first = oldest;
        while (octets > limit && first != null && first != last) {
            first.giveWay.run();
            last = first;
            first = oldest;
        }
    }
}
