// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.nio.ByteBuffer;

/**
 * A place in a region of the peer, as the peer's application advertised it in private data or in a message.
 *
 * @param stag steering tag of the peer's region
 * @param taggedOffset the region's base tagged offset plus an offset in the region; unsigned
 */
public record RemoteAddress(int stag, long taggedOffset) {

    /** Bytes of the encoded form. */
    public static final int ENCODED_LENGTH = 12;

    /** Returns the place {@code octets} bytes further in the same region. */
    public RemoteAddress plus(long octets) {
        return new RemoteAddress(stag, taggedOffset + octets);
    }

    /**
     * Writes the address as {@value #ENCODED_LENGTH} bytes: the STag first, then the tagged offset. Both are in network
     * byte order, whatever the order of the buffer. The encoding is for private data and messages between applications,
     * and is not part of any protocol.
     */
    public void encode(ByteBuffer target) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            target.put((byte) (stag >>> shift));
        }
        for (int shift = 56; shift >= 0; shift -= 8) {
            target.put((byte) (taggedOffset >>> shift));
        }
    }

    /** Returns the address in a new array, encoded as by {@link #encode(ByteBuffer)}. */
    public byte[] encode() {
        ByteBuffer buffer = ByteBuffer.allocate(ENCODED_LENGTH);
        encode(buffer);
        return buffer.array();
    }

    /**
     * Reads an address that {@link #encode(ByteBuffer)} wrote.
     *
     * @throws IllegalArgumentException if fewer than {@value #ENCODED_LENGTH} bytes remain
     */
    public static RemoteAddress decode(ByteBuffer source) {
        if (source.remaining() < ENCODED_LENGTH) {
            throw new IllegalArgumentException("a remote address has " + ENCODED_LENGTH + " bytes, and "
                    + source.remaining()
                    + " are left to decode; the peer has to send what RemoteAddress.encode() gives,"
                    + " for instance as private data");
        }
        int stag = 0;
        for (int i = 0; i < 4; i++) {
            stag = stag << 8 | source.get() & 0xFF;
        }
        long taggedOffset = 0;
        for (int i = 0; i < 8; i++) {
            taggedOffset = taggedOffset << 8 | source.get() & 0xFF;
        }
        return new RemoteAddress(stag, taggedOffset);
    }

    /**
     * Reads an address, as {@link #decode(ByteBuffer)} does, from the beginning of an array.
     *
     * @throws IllegalArgumentException if the array has fewer than {@value #ENCODED_LENGTH} bytes
     */
    public static RemoteAddress decode(byte[] source) {
        return decode(ByteBuffer.wrap(source));
    }

    @Override
    public String toString() {
        return "0x%08x+%s".formatted(stag, Long.toUnsignedString(taggedOffset));
    }
}
