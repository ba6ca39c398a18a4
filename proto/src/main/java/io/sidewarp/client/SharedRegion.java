// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A region over a file of the shared volume, which the sidecar and this process both map: data moves between the network
 * and these very pages, and no octet of it passes through the API.
 */
public non-sealed interface SharedRegion extends Region {

    /** Path of the file in the shared volume. */
    String path();

    /**
     * Whether the file was there before the registration, so that the memory has a content: the file was opened, or taken
     * over from a sidecar that died.
     */
    boolean fileExisted();

    /**
     * The mapped memory, of any length. It must not be used after {@link #close()}, or {@link Session#close()}: an access
     * then throws {@link IllegalStateException}.
     */
    MemorySegment segment();

    /**
     * A new view of the mapped memory, big-endian, with position 0 and the region's length as limit.
     *
     * @throws IllegalStateException when the region is closed
     * @throws UnsupportedOperationException when the region is longer than 2^31 - 1 octets; use {@link #segment()} or
     *     {@link #buffer(long, int)}
     */
    ByteBuffer buffer();

    /**
     * A new view of a part of the mapped memory, big-endian.
     *
     * @throws IllegalStateException when the region is closed
     * @throws IndexOutOfBoundsException when the part is not inside of the region
     */
    ByteBuffer buffer(long offset, int octets);
}
