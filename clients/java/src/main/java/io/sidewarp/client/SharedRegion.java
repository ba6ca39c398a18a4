// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A region over a file of the shared volume. The sidecar and this process both map the file: data moves between the
 * network and these pages, and never passes through the API.
 */
public non-sealed interface SharedRegion extends Region {

    /** Returns the path of the file in the shared volume. */
    String path();

    /**
     * Returns whether the file existed before the registration, so that the memory has content. The file was then
     * opened, or taken over from a sidecar that died.
     */
    boolean fileExisted();

    /**
     * Returns the mapped memory, of any length. It must not be used after {@link #close()} or {@link Session#close()}:
     * an access then throws {@link IllegalStateException}.
     */
    MemorySegment segment();

    /**
     * Returns a new view of the mapped memory, big-endian, with position 0 and the region's length as limit.
     *
     * @throws IllegalStateException if the region is closed
     * @throws UnsupportedOperationException if the region is longer than 2^31 - 1 bytes; use {@link #segment()} or
     *     {@link #buffer(long, int)}
     */
    ByteBuffer buffer();

    /**
     * Returns a new view of a part of the mapped memory, big-endian.
     *
     * @throws IllegalStateException if the region is closed
     * @throws IndexOutOfBoundsException if the part is not inside the region
     */
    ByteBuffer buffer(long offset, int octets);
}
