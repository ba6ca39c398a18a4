// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * A completion in a ring, laid over a copy of its blocks. A completion without success has a text in further blocks.
 *
 * <pre>
 *    0  sequence (8)
 *    8  id (8)
 *   16  connection (8)
 *   24  opcode (1)  blocks (1)  status (1)  tag (1)  flags (4)
 *   32  length (8)
 *   40  result (8)
 *   48  invalidated_stag (4)  error_layer (1)  error_type (1)  error_code (1)  error_remote (1)
 *   56  code (1)  retry (1)  text_length (2)  zero (4)
 * </pre>
 */
public final class CompletionEntryFlyweight {

    public static final int ID_OFFSET = 8;
    public static final int CONNECTION_OFFSET = 16;
    public static final int OPCODE_OFFSET = 24;
    public static final int BLOCKS_OFFSET = 25;
    public static final int STATUS_OFFSET = 26;
    public static final int TAG_OFFSET = 27;
    public static final int FLAGS_OFFSET = 28;
    public static final int LENGTH_OFFSET = 32;
    public static final int RESULT_OFFSET = 40;
    public static final int INVALIDATED_STAG_OFFSET = 48;
    public static final int ERROR_LAYER_OFFSET = 52;
    public static final int ERROR_TYPE_OFFSET = 53;
    public static final int ERROR_CODE_OFFSET = 54;
    public static final int ERROR_REMOTE_OFFSET = 55;
    public static final int CODE_OFFSET = 56;
    public static final int RETRY_OFFSET = 57;
    public static final int TEXT_LENGTH_OFFSET = 58;

    public static final int FLAG_SOLICITED = 1;
    public static final int FLAG_INVALIDATED = 2;
    public static final int FLAG_IMMEDIATE = 4;
    public static final int FLAG_ORIGINAL = 8;
    public static final int FLAG_ERROR = 16;

    public static final int STATUS_SUCCESS = 1;

    /** Bytes of text in a block, from offset 8 on. */
    public static final int BLOCK_TEXT = 56;

    public static final int MAX_TEXT = 448;

    /** Blocks of the longest completion. */
    public static final int MAX_BLOCKS = 1 + MAX_TEXT / BLOCK_TEXT;

    private static final int TEXT_OFFSET = 8;

    private final MemorySegment entry;

    /**
     * Lays the flyweight over a buffer.
     *
     * @param entry {@link #MAX_BLOCKS} blocks, aligned to 8 bytes
     */
    public CompletionEntryFlyweight(MemorySegment entry) {
        this.entry = entry;
    }

    public MemorySegment segment() {
        return entry;
    }

    /** Writes a completion of one block, without error and text. */
    public CompletionEntryFlyweight set(long id, long connection, int opcode, int status, int tag, long length) {
        entry.set(ValueLayout.JAVA_LONG, ID_OFFSET, id);
        entry.set(ValueLayout.JAVA_LONG, CONNECTION_OFFSET, connection);
        entry.set(
                ValueLayout.JAVA_INT,
                OPCODE_OFFSET,
                // Four bytes in one store, in the byte order of the machine.
                NativeOrder.bytes(opcode, 1, status, tag));
        entry.set(ValueLayout.JAVA_INT, FLAGS_OFFSET, 0);
        entry.set(ValueLayout.JAVA_LONG, LENGTH_OFFSET, length);
        entry.set(ValueLayout.JAVA_LONG, RESULT_OFFSET, 0);
        entry.set(ValueLayout.JAVA_LONG, INVALIDATED_STAG_OFFSET, 0);
        entry.set(ValueLayout.JAVA_LONG, CODE_OFFSET, 0);
        return this;
    }

    public CompletionEntryFlyweight flags(int flags) {
        entry.set(ValueLayout.JAVA_INT, FLAGS_OFFSET, flags);
        return this;
    }

    public CompletionEntryFlyweight result(long result) {
        entry.set(ValueLayout.JAVA_LONG, RESULT_OFFSET, result);
        return this;
    }

    public CompletionEntryFlyweight invalidatedStag(int stag) {
        entry.set(ValueLayout.JAVA_INT, INVALIDATED_STAG_OFFSET, stag);
        return this;
    }

    public CompletionEntryFlyweight error(int layer, int type, int code, boolean remote) {
        entry.set(ValueLayout.JAVA_BYTE, ERROR_LAYER_OFFSET, (byte) layer);
        entry.set(ValueLayout.JAVA_BYTE, ERROR_TYPE_OFFSET, (byte) type);
        entry.set(ValueLayout.JAVA_BYTE, ERROR_CODE_OFFSET, (byte) code);
        entry.set(ValueLayout.JAVA_BYTE, ERROR_REMOTE_OFFSET, (byte) (remote ? 1 : 0));
        return this;
    }

    public CompletionEntryFlyweight advice(int code, int retry) {
        entry.set(ValueLayout.JAVA_BYTE, CODE_OFFSET, (byte) code);
        entry.set(ValueLayout.JAVA_BYTE, RETRY_OFFSET, (byte) retry);
        return this;
    }

    /**
     * Adds a text, cut at a character boundary to fit the blocks.
     *
     * @param blocks number of blocks that the text may take, 0 to {@link #MAX_BLOCKS} - 1
     */
    public CompletionEntryFlyweight text(String text, int blocks) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, Math.min(blocks * BLOCK_TEXT, MAX_TEXT));
        while (length > 0 && length < bytes.length && (bytes[length] & 0xC0) == 0x80) {
            length--;
        }
        MemorySegment source = MemorySegment.ofArray(bytes);
        int block = 1;
        for (int done = 0; done < length; done += BLOCK_TEXT) {
            MemorySegment.copy(source, done, entry, at(block++), Math.min(BLOCK_TEXT, length - done));
        }
        entry.set(ValueLayout.JAVA_BYTE, BLOCKS_OFFSET, (byte) block);
        entry.set(ValueLayout.JAVA_SHORT, TEXT_LENGTH_OFFSET, (short) length);
        return this;
    }

    private static long at(int block) {
        return (long) block * RingLayout.BLOCK_SIZE + TEXT_OFFSET;
    }

    public long id() {
        return entry.get(ValueLayout.JAVA_LONG, ID_OFFSET);
    }

    public long connection() {
        return entry.get(ValueLayout.JAVA_LONG, CONNECTION_OFFSET);
    }

    public int opcode() {
        return entry.get(ValueLayout.JAVA_BYTE, OPCODE_OFFSET) & 0xFF;
    }

    public int blocks() {
        return entry.get(ValueLayout.JAVA_BYTE, BLOCKS_OFFSET) & 0xFF;
    }

    public int status() {
        return entry.get(ValueLayout.JAVA_BYTE, STATUS_OFFSET) & 0xFF;
    }

    public int tag() {
        return entry.get(ValueLayout.JAVA_BYTE, TAG_OFFSET) & 0xFF;
    }

    public int flags() {
        return entry.get(ValueLayout.JAVA_INT, FLAGS_OFFSET);
    }

    public long length() {
        return entry.get(ValueLayout.JAVA_LONG, LENGTH_OFFSET);
    }

    public long result() {
        return entry.get(ValueLayout.JAVA_LONG, RESULT_OFFSET);
    }

    public int invalidatedStag() {
        return entry.get(ValueLayout.JAVA_INT, INVALIDATED_STAG_OFFSET);
    }

    public int errorLayer() {
        return entry.get(ValueLayout.JAVA_BYTE, ERROR_LAYER_OFFSET) & 0xFF;
    }

    public int errorType() {
        return entry.get(ValueLayout.JAVA_BYTE, ERROR_TYPE_OFFSET) & 0xFF;
    }

    public int errorCode() {
        return entry.get(ValueLayout.JAVA_BYTE, ERROR_CODE_OFFSET) & 0xFF;
    }

    public boolean isErrorRemote() {
        return entry.get(ValueLayout.JAVA_BYTE, ERROR_REMOTE_OFFSET) != 0;
    }

    public int code() {
        return entry.get(ValueLayout.JAVA_BYTE, CODE_OFFSET) & 0xFF;
    }

    public int retry() {
        return entry.get(ValueLayout.JAVA_BYTE, RETRY_OFFSET) & 0xFF;
    }

    /** Returns the text of a completion without success; empty if there is none. */
    public String text() {
        int length = Math.min(
                entry.get(ValueLayout.JAVA_SHORT, TEXT_LENGTH_OFFSET) & 0xFFFF,
                Math.clamp(blocks() - 1, 0, MAX_BLOCKS - 1) * BLOCK_TEXT);
        byte[] bytes = new byte[length];
        MemorySegment target = MemorySegment.ofArray(bytes);
        int block = 1;
        for (int done = 0; done < length; done += BLOCK_TEXT) {
            MemorySegment.copy(entry, at(block++), target, done, Math.min(BLOCK_TEXT, length - done));
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
