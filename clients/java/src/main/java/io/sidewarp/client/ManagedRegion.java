// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * A region in the sidecar's own memory, filled and read through the API in pieces. Use it in programs that cannot map
 * files, and for a first try; a {@link SharedRegion} is faster.
 *
 * <p>Offsets and lengths are in bytes. Offsets count from the beginning of the region.
 *
 * <p>All methods block, and throw {@link SidewarpException}: OUT_OF_RANGE outside of the region, NOT_FOUND if the
 * region was deregistered.
 */
public non-sealed interface ManagedRegion extends Region {

    /** Stores the remaining bytes of {@code source}, and moves its position to its limit. */
    void store(long offset, ByteBuffer source);

    default void store(long offset, byte[] source) {
        store(offset, ByteBuffer.wrap(source));
    }

    /**
     * Stores everything that the stream yields. Holds at most a few pieces in memory. Does not close the stream.
     *
     * @return number of bytes stored
     * @throws java.io.UncheckedIOException if the stream fails; data that was read before may have been stored
     */
    long store(long offset, InputStream source);

    /** Fills the remaining space of {@code target} from the region. */
    void load(long offset, ByteBuffer target);

    default byte[] load(long offset, int octets) {
        ByteBuffer target = ByteBuffer.allocate(octets);
        load(offset, target);
        return target.array();
    }

    /**
     * Reads a part of the region piece by piece, as fast as the caller reads. Close the stream to end it early.
     *
     * @param octets 0 for everything from {@code offset} to the region's end
     */
    InputStream stream(long offset, long octets);
}
