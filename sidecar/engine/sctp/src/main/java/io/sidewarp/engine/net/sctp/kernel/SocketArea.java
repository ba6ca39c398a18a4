// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.net.sctp.socket.NativeFunction;
import io.sidewarp.engine.net.sctp.socket.SocketApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/**
 * Structures that the calls of one thread pass to the kernel, made once. There is one struct msghdr to send and one to
 * receive, each with one buffer and one control message, and room for options. Belongs to the thread that made it.
 */
final class SocketArea implements AutoCloseable {

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** struct msghdr. */
    private static final int MSG_IOV = 16;

    private static final int MSG_IOVLEN = 24;
    private static final int MSG_CONTROL = 32;
    private static final int MSG_CONTROLLEN = 40;
    private static final int MSG_FLAGS = 48;

    /** struct cmsghdr. */
    private static final int CMSG_LEVEL = 8;

    private static final int CMSG_TYPE = 12;
    private static final int CMSG_DATA = 16;

    private static final int SEND_HEADER = 0;
    private static final int SEND_BUFFER = 64;
    private static final int SEND_CONTROL = 80;
    private static final int RECEIVE_HEADER = 128;
    private static final int RECEIVE_BUFFER = 192;
    private static final int RECEIVE_CONTROL = 208;
    private static final int RECEIVE_CONTROL_LENGTH = 160;
    private static final int OPTION_LENGTH = 368;
    private static final int VALUE = 384;
    private static final int VALUE_LENGTH = 4096;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(VALUE + VALUE_LENGTH, Long.BYTES);
    private final MemorySegment value = memory.asSlice(VALUE, VALUE_LENGTH);
    private final MemorySegment callState = NativeFunction.newCallState(arena);
    private final long base = memory.address();
    private final Duration tick;

    SocketArea() {
        tick = measureTick();
        header(SEND_HEADER, SEND_BUFFER, SEND_CONTROL);
        header(RECEIVE_HEADER, RECEIVE_BUFFER, RECEIVE_CONTROL);
        memory.set(LONG, SEND_HEADER + MSG_CONTROLLEN, CMSG_DATA + SocketApi.SNDINFO_LENGTH);
        memory.set(LONG, SEND_CONTROL, CMSG_DATA + SocketApi.SNDINFO_LENGTH);
        memory.set(INT, SEND_CONTROL + CMSG_LEVEL, SocketApi.IPPROTO_SCTP);
        memory.set(INT, SEND_CONTROL + CMSG_TYPE, KernelConstants.SCTP_SNDINFO);
    }

    /** Measures the tick of the kernel (jiffy), which is the resolution of the kernel's coarse clock. */
    private Duration measureTick() {
        SctpErrors.check(
                "clock_getres",
                SystemCalls.CLOCK_RESOLUTION.call(callState, KernelConstants.CLOCK_MONOTONIC_COARSE, value.address()));
        return Duration.ofSeconds(value.get(LONG, 0), value.get(LONG, Long.BYTES));
    }

    /** Returns the length of a tick of the kernel. */
    Duration tick() {
        return tick;
    }

    private void header(int header, int buffer, int control) {
        memory.set(LONG, header + MSG_IOV, base + buffer);
        memory.set(LONG, header + MSG_IOVLEN, 1);
        memory.set(LONG, header + MSG_CONTROL, base + control);
    }

    MemorySegment callState() {
        return callState;
    }

    /** Returns room for the value of an option. */
    MemorySegment value() {
        return value;
    }

    /** Returns the address of the length of an option. The kernel replaces the length that is passed in. */
    long optionLength(int length) {
        memory.set(INT, OPTION_LENGTH, length);
        return base + OPTION_LENGTH;
    }

    /** Returns the address of the header of a message to send; {@code payloadProtocol} is in host order. */
    long outgoing(int association, int stream, int flags, int payloadProtocol, long data, int length) {
        memory.set(LONG, SEND_BUFFER, data);
        memory.set(LONG, SEND_BUFFER + Long.BYTES, length);
        int info = SEND_CONTROL + CMSG_DATA;
        memory.set(SHORT, info, (short) stream);
        memory.set(SHORT, info + SocketApi.SNDINFO_FLAGS, (short) flags);
        memory.set(SocketApi.BIG_ENDIAN_INT, info + SocketApi.SNDINFO_PPID, payloadProtocol);
        memory.set(INT, info + SocketApi.SNDINFO_ASSOC_ID, association);
        return base + SEND_HEADER;
    }

    /** Returns the address of the header of a message to receive. */
    long incoming(long data, int capacity) {
        memory.set(LONG, RECEIVE_BUFFER, data);
        memory.set(LONG, RECEIVE_BUFFER + Long.BYTES, capacity);
        memory.set(LONG, RECEIVE_HEADER + MSG_CONTROLLEN, RECEIVE_CONTROL_LENGTH);
        memory.set(INT, RECEIVE_HEADER + MSG_FLAGS, 0);
        memory.set(LONG, RECEIVE_CONTROL, 0);
        return base + RECEIVE_HEADER;
    }

    /** Returns the flags of the received message. */
    int receivedFlags() {
        return memory.get(INT, RECEIVE_HEADER + MSG_FLAGS);
    }

    /** Returns whether a message came with a struct sctp_rcvinfo. No other control message is requested. */
    boolean hasReceiveInfo() {
        return memory.get(LONG, RECEIVE_HEADER + MSG_CONTROLLEN) >= CMSG_DATA + SocketApi.RCVINFO_LENGTH
                && memory.get(INT, RECEIVE_CONTROL + CMSG_LEVEL) == SocketApi.IPPROTO_SCTP
                && memory.get(INT, RECEIVE_CONTROL + CMSG_TYPE) == KernelConstants.SCTP_RCVINFO;
    }

    int receivedStream() {
        return Short.toUnsignedInt(memory.get(SHORT, RECEIVE_CONTROL + CMSG_DATA));
    }

    /** Returns the payload protocol in host order. */
    int receivedPayloadProtocol() {
        return memory.get(SocketApi.BIG_ENDIAN_INT, RECEIVE_CONTROL + CMSG_DATA + SocketApi.RCVINFO_PPID);
    }

    @Override
    public void close() {
        arena.close();
    }
}
