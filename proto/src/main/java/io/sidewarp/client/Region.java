// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Registered memory. Closing it deregisters it; the end of the session does that too. */
public sealed interface Region extends AutoCloseable permits SharedRegion, ManagedRegion {

    /** The sidecar's number for it, the one in an {@link Sge}. */
    long id();

    /**
     * Steering tag: what a peer needs, together with a tagged offset, to reach the region. It is that of the
     * registration; {@link WorkRequest#enable} gives the region another one.
     */
    int stag();

    /** Tagged offset of the first octet; unsigned. */
    long baseTaggedOffset();

    /** Octets. */
    long length();

    /**
     * The address of an octet of this region, for a peer.
     *
     * @param offset octets from the beginning, 0 to {@link #length()}
     * @throws IndexOutOfBoundsException outside of the region
     */
    default RemoteAddress address(long offset) {
        if (offset < 0 || offset > length()) {
            throw new IndexOutOfBoundsException("offset " + offset + " is outside of a region of " + length());
        }
        return new RemoteAddress(stag(), baseTaggedOffset() + offset);
    }

    /** The address of the first octet, for a peer, once {@link WorkRequest#enable} with the key is complete. */
    default RemoteAddress addressWithKey(int key) {
        return new RemoteAddress(stag() & ~0xFF | key & 0xFF, baseTaggedOffset());
    }

    /** The address of the first octet, for a peer. */
    default RemoteAddress address() {
        return address(0);
    }

    /**
     * A part of this region, for a work request.
     *
     * @throws IndexOutOfBoundsException when the part is not inside of the region
     */
    default Sge slice(long offset, long octets) {
        if (offset < 0 || octets < 0 || octets > length() - offset) {
            throw new IndexOutOfBoundsException(
                    octets + " octets at " + offset + " are outside of a region of " + length());
        }
        return new Sge(id(), offset, octets);
    }

    /** All of this region, for a work request. */
    default Sge slice() {
        return slice(0, length());
    }

    /**
     * Deregisters the region. When this returns, nothing can be placed into it or read from it any more, and a shared
     * region is unmapped here. It waits for the sidecar also when the thread is interrupted. Where it throws, close again;
     * else closing twice does nothing.
     *
     * @throws IllegalStateException while I/O of another thread uses the memory of a shared region: it is deregistered
     *     then, and unmapped when it, or its session, is closed again after that
     */
    @Override
    void close();
}
