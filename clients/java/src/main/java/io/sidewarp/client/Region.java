// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Registered memory. Closing a region deregisters it; the end of the session does so too. */
public sealed interface Region extends AutoCloseable permits SharedRegion, ManagedRegion {

    /** Returns the sidecar's number of the region, as used in an {@link Sge}. */
    long id();

    /**
     * Returns the steering tag. A peer needs it, together with a tagged offset, to reach the region. The value is the
     * STag of the registration; {@link WorkRequest#enable} gives the region another STag.
     */
    int stag();

    /** Returns the tagged offset of the first byte; unsigned. */
    long baseTaggedOffset();

    /** Returns the length in bytes. */
    long length();

    /**
     * Returns the address of a byte of this region, for a peer.
     *
     * @param offset bytes from the beginning, 0 to {@link #length()}
     * @throws IndexOutOfBoundsException outside of the region
     */
    default RemoteAddress address(long offset) {
        if (offset < 0 || offset > length()) {
            throw new IndexOutOfBoundsException("offset " + offset + " is outside of a region of " + length());
        }
        return new RemoteAddress(stag(), baseTaggedOffset() + offset);
    }

    /** Returns the address of the first byte, for a peer, after {@link WorkRequest#enable} with the key is complete. */
    default RemoteAddress addressWithKey(int key) {
        return new RemoteAddress(stag() & ~0xFF | key & 0xFF, baseTaggedOffset());
    }

    /** Returns the address of the first byte, for a peer. */
    default RemoteAddress address() {
        return address(0);
    }

    /**
     * Returns a part of this region, for a work request.
     *
     * @throws IndexOutOfBoundsException if the part is not inside the region
     */
    default Sge slice(long offset, long octets) {
        if (offset < 0 || octets < 0 || octets > length() - offset) {
            throw new IndexOutOfBoundsException(
                    octets + " bytes at " + offset + " are outside of a region of " + length());
        }
        return new Sge(id(), offset, octets);
    }

    /** Returns all of this region, for a work request. */
    default Sge slice() {
        return slice(0, length());
    }

    /**
     * Deregisters the region. When this method returns, no data can be placed into the region or read from it, and a
     * shared region is unmapped here. The method waits for the sidecar even if the thread is interrupted. If the method
     * throws, close the region again; after a success, closing again does nothing.
     *
     * @throws IllegalStateException while I/O of another thread uses the memory of a shared region. The region is then
     *     deregistered. It is unmapped when the region or its session is closed again after that I/O.
     */
    @Override
    void close();
}
