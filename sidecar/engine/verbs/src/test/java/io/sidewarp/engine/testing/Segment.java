// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A DDP segment, decoded by the figures of RFC 5041 sections 4.1 to 4.3 and RFC 5040 section 4.1 without the code under
 * test.
 */
public final class Segment {

    private final byte[] octets;

    /** @param octets one ULPDU */
    public Segment(byte[] octets) {
        this.octets = octets;
        int least = tagged() ? 14 : 18;
        if (octets.length < least) {
            throw new AssertionError("a segment of " + octets.length + " octets has no complete header");
        }
    }

    public byte[] octets() {
        return octets;
    }

    /** Octets of header and payload. */
    public int length() {
        return octets.length;
    }

    public boolean tagged() {
        return (octets[0] & 0x80) != 0;
    }

    public boolean last() {
        return (octets[0] & 0x40) != 0;
    }

    /** The DDP Control octet. */
    public int control() {
        return octets[0] & 0xFF;
    }

    /** The RDMAP Control octet. */
    public int ulpControl() {
        return octets[1] & 0xFF;
    }

    public int opcode() {
        return octets[1] & 0x0F;
    }

    public int stag() {
        return ByteBuffer.wrap(octets).getInt(tagged() ? 2 : requireTagged());
    }

    /** Tagged offset. */
    public long to() {
        return ByteBuffer.wrap(octets).getLong(tagged() ? 6 : requireTagged());
    }

    /** ULP-reserved octets 2 to 5 of an untagged segment: the Invalidate STag. */
    public int ulpWord() {
        return ByteBuffer.wrap(octets).getInt(tagged() ? requireUntagged() : 2);
    }

    /** Queue number. */
    public int qn() {
        return ByteBuffer.wrap(octets).getInt(tagged() ? requireUntagged() : 6);
    }

    /** Message sequence number. */
    public int msn() {
        return ByteBuffer.wrap(octets).getInt(tagged() ? requireUntagged() : 10);
    }

    /** Message offset. */
    public long mo() {
        return ByteBuffer.wrap(octets).getInt(tagged() ? requireUntagged() : 14) & 0xFFFF_FFFFL;
    }

    public int headerLength() {
        return tagged() ? 14 : 18;
    }

    public byte[] header() {
        return Arrays.copyOf(octets, headerLength());
    }

    public byte[] payload() {
        return Arrays.copyOfRange(octets, headerLength(), octets.length);
    }

    private static int requireTagged() {
        throw new AssertionError("an untagged segment has neither STag nor TO");
    }

    private static int requireUntagged() {
        throw new AssertionError("a tagged segment has neither QN, MSN nor MO");
    }

    @Override
    public String toString() {
        return Octets.show(octets);
    }
}
