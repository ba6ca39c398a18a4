// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import org.jspecify.annotations.Nullable;

/**
 * RDMA Reads and Atomic Operations of this side whose response is not complete, oldest first. At most ORD of them are
 * outstanding together (RFC 5040 section 6.1, RFC 7306 section 5.2).
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

    /** Returns the request whose response comes next, or null. */
    @Nullable
    Wqe oldest() {
        return count == 0 ? null : ring[first];
    }

    /** Returns the request with this MSN, or null. */
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

    /** Returns whether a response still has to be placed in the region whose STag the local work changes. */
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
