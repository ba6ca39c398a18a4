// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A record on the socket of a completion ring.
 *
 * <pre>
 *    0  length (4)  version (2)  type (2)
 *    8  value (8)
 *   16  content, as the type defines
 * </pre>
 */
public final class RingRecord {

    public static final int VERSION = 1;

    /** First record, from the application. The token follows. */
    public static final int HELLO = 1;

    /** Answer of the sidecar to the right token. */
    public static final int WELCOME = 2;

    /** Request to look at a ring. */
    public static final int WAKE = 3;

    /** Report of the sidecar that a ring has ended. A text follows. */
    public static final int END = 4;

    /** Last record of the sidecar before it closes the socket. The value is a gRPC status code, and a text follows. */
    public static final int ERROR = 5;

    public static final int HEADER = 16;
    public static final int LENGTH_OFFSET = 0;
    public static final int VERSION_OFFSET = 4;
    public static final int TYPE_OFFSET = 6;
    public static final int VALUE_OFFSET = 8;

    /** Length of the longest record in bytes. */
    public static final int MAX_LENGTH = 4096;

    public static final int TOKEN_LENGTH = 32;

    private RingRecord() {}

    /** Writes the header of a record at an offset of a buffer in native byte order. */
    public static void header(ByteBuffer buffer, int at, int length, int type, long value) {
        buffer.putInt(at + LENGTH_OFFSET, length);
        buffer.putShort(at + VERSION_OFFSET, (short) VERSION);
        buffer.putShort(at + TYPE_OFFSET, (short) type);
        buffer.putLong(at + VALUE_OFFSET, value);
    }

    /** Makes a record, ready to be read. */
    public static ByteBuffer of(int type, long value, byte... rest) {
        ByteBuffer buffer = ByteBuffer.allocate(HEADER + rest.length).order(ByteOrder.nativeOrder());
        header(buffer, 0, HEADER + rest.length, type, value);
        return buffer.put(HEADER, rest);
    }
}
