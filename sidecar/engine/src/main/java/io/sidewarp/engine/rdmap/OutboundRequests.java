// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import org.jspecify.annotations.Nullable;

/**
 * Own RDMA Reads and Atomic Operations whose response is not complete, at most ORD of them together (RFC 5040 section
 * 6.1, RFC 7306 section 5.2), oldest first.
 */
final class OutboundRequests {

    private final @Nullable Wqe[] ring;
    private int first;
    private int count;

    OutboundRequests(int ord) {
        ring = new Wqe[ord];
    }

    boolean isFull() {
        return count == ring.length;
    }

    boolean isEmpty() {
        return count == 0;
    }

    int count() {
        return count;
    }

    /** The request whose response comes next, or null. */
    @Nullable
    Wqe oldest() {
        return count == 0 ? null : ring[first];
    }

    /** The request with this MSN, or null. */
    @Nullable
    Wqe withMsn(int msn) {
        for (int i = 0; i < count; i++) {
            Wqe wqe = ring[(first + i) % ring.length];
            if (wqe != null && wqe.requestMsn() == msn) {
                return wqe;
            }
        }
        return null;
    }

    /** Whether a response is still to be placed in the region whose STag the local work changes. */
    boolean useSubjectOf(Wqe local) {
        for (int i = 0; i < count; i++) {
            Wqe wqe = ring[(first + i) % ring.length];
            if (wqe != null && wqe.usesSubjectOf(local)) {
                return true;
            }
        }
        return false;
    }

    void add(Wqe wqe) {
        ring[(first + count) % ring.length] = wqe;
        count++;
    }

    void removeOldest() {
        ring[first] = null;
        first = (first + 1) % ring.length;
        count--;
    }

    void clear() {
        while (count > 0) {
            removeOldest();
        }
    }
}
