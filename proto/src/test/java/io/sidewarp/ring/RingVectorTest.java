// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the constants and example records of rings-vector.txt, which clients in other languages use. */
class RingVectorTest {

    private static final Path VECTOR = Path.of(System.getProperty("sidewarp.root", ".."), "docs/rings-vector.txt");

    private final MemorySegment ring = Arena.ofAuto().allocate(RingLayout.fileLength(16), 8);
    private final MemorySegment entry =
            Arena.ofAuto().allocate((long) WorkEntryFlyweight.MAX_BLOCKS * RingLayout.BLOCK_SIZE, 8);
    private final WorkEntryFlyweight work = new WorkEntryFlyweight(entry);
    private final CompletionEntryFlyweight completion = new CompletionEntryFlyweight(entry);

    @Test
    void vectorHasExactlyTheConstantsOfTheJavaClasses() throws Exception {
        List<String> constants = new ArrayList<>();
        addConstants(constants, "RING", RingLayout.class);
        addConstants(constants, "WORK", WorkEntryFlyweight.class);
        addConstants(constants, "COMPLETION", CompletionEntryFlyweight.class);
        addConstants(constants, "RECORD", RingRecord.class);

        assertThat(lines("constant")).containsExactlyElementsOf(constants);
    }

    @Test
    void vectorHasExactlyTheBytesThatTheJavaEncodersWrite() throws Exception {
        assumeTrue(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN, "the examples are little-endian");

        assertThat(lines("record"))
                .containsExactly(
                        "record HEADER " + header(),
                        "record WRITE " + write(),
                        "record SEND_SOLICITED " + sendOfThreeElements(),
                        "record COMPARE_SWAP " + compareSwap(),
                        "record SEND_INLINE " + inlineSend(),
                        "record RECEIVE_SHARED " + sharedReceive(),
                        "record COMPLETION_SUCCESS " + success(),
                        "record COMPLETION_FAILED " + failure(),
                        "record HELLO " + hex(RingRecord.of(RingRecord.HELLO, 0, token())),
                        "record WELCOME " + hex(RingRecord.of(RingRecord.WELCOME, 0x201)),
                        "record WAKE " + hex(RingRecord.of(RingRecord.WAKE, 0x202)),
                        "record END " + hex(RingRecord.of(RingRecord.END, 0x202, ascii("destroyed"))),
                        "record ERROR " + hex(RingRecord.of(RingRecord.ERROR, 16, ascii("wrong token"))));
    }

    private static List<String> lines(String kind) throws IOException {
        return Files.readAllLines(VECTOR).stream()
                .filter(line -> line.startsWith(kind + " "))
                .toList();
    }

    private static void addConstants(List<String> constants, String prefix, Class<?> layout)
            throws IllegalAccessException {
        for (Field field : layout.getDeclaredFields()) {
            if (Modifier.isPublic(field.getModifiers()) && Modifier.isStatic(field.getModifiers())) {
                constants.add("constant " + prefix + "_" + field.getName() + " " + field.getInt(null));
            }
        }
    }

    private String header() {
        RingLayout.initialize(ring, RingLayout.KIND_SEND, 16, 0x202, 0x201);
        String header = hex(ring, 0, RingLayout.DATA_OFFSET);
        ring.fill((byte) 0);
        return header;
    }

    private String write() {
        work.id(0x1122334455667788L)
                .connection(5)
                .opcode(WorkEntryFlyweight.OPCODE_WRITE)
                .blocks(1)
                .elements(1)
                .tag(7)
                .remoteStag(0xA1B2C3D4)
                .remoteOffset(0x10000001000L)
                .element(0, 3, 4096, 8192)
                .flags(WorkEntryFlyweight.FLAG_UNSIGNALED);
        return published(1);
    }

    private String sendOfThreeElements() {
        work.id(2)
                .connection(5)
                .opcode(WorkEntryFlyweight.OPCODE_SEND)
                .blocks(2)
                .elements(3)
                .element(0, 3, 0, 16)
                .element(1, 3, 64, 32)
                .element(2, 4, 128, 48)
                .flags(WorkEntryFlyweight.FLAG_SOLICITED);
        return published(2);
    }

    private String compareSwap() {
        work.id(3)
                .connection(5)
                .opcode(WorkEntryFlyweight.OPCODE_COMPARE_SWAP)
                .blocks(2)
                .elements(1)
                .remoteStag(0xA1B2C3D4)
                .remoteOffset(0x10000001008L)
                .element(0, 3, 256, 8)
                .operands(0x99, -1, 0x77, -1)
                .flags(WorkEntryFlyweight.FLAG_FENCE);
        return published(2);
    }

    private String inlineSend() {
        byte[] payload = ascii("sixty bytes of payload stand in two blocks behind the first.");
        work.id(4)
                .connection(5)
                .opcode(WorkEntryFlyweight.OPCODE_SEND)
                .blocks(3)
                .elements(0)
                .element(0, 0, 0, payload.length)
                .flags(WorkEntryFlyweight.FLAG_INLINE)
                .payload(MemorySegment.ofArray(payload));
        return published(3);
    }

    private String sharedReceive() {
        work.id(5)
                .connection(9)
                .opcode(WorkEntryFlyweight.OPCODE_RECEIVE)
                .blocks(1)
                .elements(1)
                .element(0, 3, 512, 1024)
                .flags(WorkEntryFlyweight.FLAG_SHARED);
        return published(1);
    }

    private String success() {
        completion
                .set(5, 5, WorkEntryFlyweight.OPCODE_RECEIVE, CompletionEntryFlyweight.STATUS_SUCCESS, 7, 96)
                .flags(CompletionEntryFlyweight.FLAG_SOLICITED | CompletionEntryFlyweight.FLAG_INVALIDATED)
                .invalidatedStag(0xA1B2C3D4);
        return published(1);
    }

    private String failure() {
        completion
                .set(1, 5, WorkEntryFlyweight.OPCODE_WRITE, 4, 7, 0)
                .flags(CompletionEntryFlyweight.FLAG_ERROR)
                .error(1, 1, 1, true)
                .advice(9, 3)
                .text("the write ends behind the region of the peer; use a smaller length", 8);
        return published(3);
    }

    /** Returns the blocks of the entry as a producer publishes them first in a ring, and clears the entry. */
    private String published(int blocks) {
        new RingProducer(ring, 16).publish(entry, blocks);
        entry.fill((byte) 0);
        return hex(ring, RingLayout.DATA_OFFSET, (long) blocks * RingLayout.BLOCK_SIZE);
    }

    private static byte[] token() {
        byte[] token = new byte[RingRecord.TOKEN_LENGTH];
        IntStream.range(0, token.length).forEach(i -> token[i] = (byte) (0xE0 + i));
        return token;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String hex(MemorySegment memory, long offset, long length) {
        return HexFormat.of().formatHex(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
    }

    private static String hex(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
