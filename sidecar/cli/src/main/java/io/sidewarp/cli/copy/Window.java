// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.grpc.Status;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Message;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.client.Access;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpException;
import java.nio.ByteBuffer;

/**
 * Shared memory that a file passes through, so that files can be larger than the volume. Consists of slots of one chunk
 * each.
 */
final class Window implements AutoCloseable {

    static final int MAX_SLOTS = 32;
    static final int MIN_CHUNK = 64 << 10;
    static final int MAX_CHUNK = 16 << 20;

    /** Size of the largest window, in bytes. */
    static final long MAX_LENGTH = (long) MAX_SLOTS * MAX_CHUNK;

    private final SharedRegion region;
    private final int chunk;
    private final int slots;

    private Window(SharedRegion region, int chunk, int slots) {
        this.region = region;
        this.chunk = chunk;
        this.slots = slots;
    }

    /**
     * Creates a window. The window is smaller than wanted if memory is short.
     *
     * @param wanted file, and the largest chunk and number of slots
     * @param limit most bytes of the window, at least {@link #MIN_CHUNK}
     * @throws Failure when there is no memory even for one chunk of the minimum size
     */
    static Window create(Session session, Layout wanted, long limit, Access... access) {
        Layout bounded = wanted.bounded(limit);
        int chunk = bounded.chunk();
        int slots = bounded.slots();
        while (true) {
            try {
                SharedRegion region =
                        session.createSharedRegion(RegionNames.next("copy"), (long) chunk * slots, access);
                return new Window(region, chunk, slots);
            } catch (SidewarpException e) {
                if (e.code() != Status.Code.RESOURCE_EXHAUSTED) {
                    throw e;
                }
                if (slots > 2) {
                    slots /= 2;
                } else if (chunk / 2 >= MIN_CHUNK) {
                    chunk /= 2;
                } else {
                    throw new Failure(
                            ExitCode.NO_RESOURCES,
                            "the shared volume has no room for a window of " + Sizes.format((long) chunk * slots)
                                    + " (" + e.getMessage() + "); enlarge it, or end its users (sidewarp show"
                                    + " regions)",
                            e);
                }
            }
        }
    }

    SharedRegion region() {
        return region;
    }

    /** Returns the bytes of a chunk. */
    int chunk() {
        return chunk;
    }

    int slots() {
        return slots;
    }

    @Override
    public void close() {
        region.close();
    }

    /**
     * Division of a file into chunks, and the part of the windows that both ends use. One end's window may be larger.
     */
    record Layout(long size, int chunk, int slots) {

        /**
         * Returns the layout of a window for this file. Chunks have at most half of the limit, because one chunk is
         * stored while another one is on the way.
         */
        Layout bounded(long limit) {
            int largest = Math.clamp(limit / 2, MIN_CHUNK, MAX_CHUNK);
            int boundedChunk = Math.clamp(Math.min(chunk, size), MIN_CHUNK, largest);
            long needed = Math.min(limit / boundedChunk, size / boundedChunk + 1);
            return new Layout(size, boundedChunk, Math.clamp(Math.min(slots, needed), 1, MAX_SLOTS));
        }

        /** Returns the number of chunks of the file. */
        long chunks() {
            return (size + chunk - 1) / chunk;
        }

        /** Returns the bytes of a chunk. Only the last chunk is shorter. */
        int octets(long index) {
            return (int) Math.min(chunk, size - index * chunk);
        }

        /** Returns the offset of a chunk's slot in the window. */
        long offset(long index) {
            return index % slots * chunk;
        }

        /** @throws Failure when a chunk is not the expected one, or has another length */
        void check(CopyMessage.Chunk chunk, long index) {
            if (chunk.index() != index || chunk.octets() != octets(index)) {
                throw Message.unexpected(chunk.type());
            }
        }

        Sge slice(SharedRegion region, long index) {
            return region.slice(offset(index), octets(index));
        }

        ByteBuffer buffer(SharedRegion region, long index) {
            return region.buffer(offset(index), octets(index));
        }
    }
}
