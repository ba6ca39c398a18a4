// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.sctp.SctpPacketOutput;
import io.sidewarp.engine.net.sctp.SctpReceived;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.SctpSocket;
import io.sidewarp.engine.net.sctp.SctpSocketStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A one-to-many socket of usrsctp with one association. The same socket serves whether this side or the peer began the
 * association. Notifications report the state of the association. Allocates nothing per message.
 */
final class UsrsctpSocket implements SctpSocket {

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** Longest reason in bytes; a longer reason is cut. An association has only one address of the library. */
    private static final int REASON_LENGTH = 128;

    private static final int SCRATCH_LENGTH = 256;
    private static final int INFO_OFFSET = 0;
    private static final int INFO_LENGTH_OFFSET = 32;
    private static final int INFO_TYPE_OFFSET = 36;
    private static final int FLAGS_OFFSET = 40;
    private static final int OPTION_LENGTH_OFFSET = 44;
    private static final int VALUE_OFFSET = 64;

    private final SocketTable table;
    private final SctpPacketOutput output;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment scratch = arena.allocate(SCRATCH_LENGTH, Long.BYTES);
    private final MemorySegment callState = UsrsctpCalls.newCallState(arena);
    private final long address;
    private long socket;
    private int associationId;
    private int sendError;

    private UsrsctpSocket(SocketTable table, SctpPacketOutput output) {
        this.table = table;
        this.output = output;
        this.address = table.acquire();
        table.set(address, this);
    }

    static UsrsctpSocket open(
            SocketTable table,
            int localPort,
            int packetSize,
            OptionalInt adaptation,
            SctpSettings settings,
            SctpPacketOutput output) {
        while (true) {
            UsrsctpSocket opened = new UsrsctpSocket(table, output);
            boolean bound;
            try {
                bound = opened.open(localPort, packetSize, adaptation, settings);
            } catch (RuntimeException | Error e) {
                opened.close();
                throw e;
            }
            if (bound) {
                return opened;
            }
            opened.closeAndWithdraw();
        }
    }

    SctpPacketOutput output() {
        return output;
    }

    /**
     * Opens the socket. Returns false when the address is not usable yet: the library may still have the socket that
     * was closed there before.
     */
    private boolean open(int localPort, int packetSize, OptionalInt adaptation, SctpSettings settings) {
        long opened = UsrsctpCalls.socket(
                callState, UsrsctpConstants.AF_CONN, UsrsctpConstants.SOCK_SEQPACKET, UsrsctpConstants.IPPROTO_SCTP);
        if (opened > -4096 && opened < 0) {
            throw failure("socket", (int) opened);
        }
        socket = opened;
        check("set_non_blocking", UsrsctpCalls.setNonBlocking(callState, socket));
        new UsrsctpOptions(callState, socket, scratch.asSlice(VALUE_OFFSET)).apply(packetSize, adaptation, settings);
        int result = UsrsctpCalls.bind(callState, socket, sockaddr(localPort), UsrsctpConstants.SOCKADDR_LENGTH);
        if (result == -UsrsctpConstants.EADDRINUSE) {
            return false;
        }
        check("bind", result);
        return true;
    }

    private static IllegalStateException failure(String call, int error) {
        return new IllegalStateException("usrsctp_" + call + " failed with error number " + -error);
    }

    static void check(String call, int result) {
        if (result < 0) {
            throw failure(call, result);
        }
    }

    /** Returns the address of a struct sockaddr_conn in the scratch memory. */
    private long sockaddr(int port) {
        scratch.asSlice(VALUE_OFFSET, UsrsctpConstants.SOCKADDR_LENGTH).fill((byte) 0);
        scratch.set(SHORT, VALUE_OFFSET, (short) UsrsctpConstants.AF_CONN);
        scratch.set(BYTE, VALUE_OFFSET + 2, (byte) (port >>> 8));
        scratch.set(BYTE, VALUE_OFFSET + 3, (byte) port);
        scratch.set(LONG, VALUE_OFFSET + 8, address);
        return scratch.address() + VALUE_OFFSET;
    }

    @Override
    public void listen() {
        check("listen", UsrsctpCalls.listen(callState, socket));
    }

    @Override
    public void connect(int remotePort) {
        int result = UsrsctpCalls.connect(callState, socket, sockaddr(remotePort), UsrsctpConstants.SOCKADDR_LENGTH);
        if (result != -UsrsctpConstants.EINPROGRESS) {
            check("connect", result);
        }
    }

    @Override
    public void input(WireBuffer packet, int offset, int length) {
        try {
            UsrsctpCalls.input(address, packet.segment().address() + offset, length);
        } finally {
            Reference.reachabilityFence(packet);
        }
    }

    @Override
    public SendResult send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {
        int sent;
        try {
            long data = buffer.segment().address() + offset;
            sent = send(stream, UsrsctpConstants.SCTP_UNORDERED, payloadProtocol, data, length);
        } finally {
            Reference.reachabilityFence(buffer);
        }
        if (sent >= 0) {
            return SendResult.SENT;
        }
        sendError = -sent;
        return SendResult.ofError(sendError);
    }

    @Override
    public int sendError() {
        return sendError;
    }

    private int send(int stream, int flags, int payloadProtocol, long data, int length) {
        scratch.set(SHORT, INFO_OFFSET, (short) stream);
        scratch.set(SHORT, INFO_OFFSET + 2, (short) flags);
        scratch.set(UsrsctpConstants.BIG_ENDIAN_INT, INFO_OFFSET + 4, payloadProtocol);
        scratch.set(INT, INFO_OFFSET + 8, 0);
        scratch.set(INT, INFO_OFFSET + 12, associationId);
        return UsrsctpCalls.send(
                callState,
                socket,
                data,
                length,
                scratch.address() + INFO_OFFSET,
                UsrsctpConstants.SNDINFO_LENGTH,
                UsrsctpConstants.SCTP_SENDV_SNDINFO);
    }

    @Override
    public boolean receive(WireBuffer into, SctpReceived received) {
        if (socket == 0) {
            return false;
        }
        scratch.set(INT, INFO_LENGTH_OFFSET, UsrsctpConstants.RCVINFO_LENGTH);
        scratch.set(INT, FLAGS_OFFSET, 0);
        long base = scratch.address();
        int length = UsrsctpCalls.receive(
                callState,
                socket,
                into.segment().address(),
                into.capacity(),
                base + INFO_OFFSET,
                base + INFO_LENGTH_OFFSET,
                base + INFO_TYPE_OFFSET,
                base + FLAGS_OFFSET);
        if (length <= 0) {
            return false;
        }
        int flags = scratch.get(INT, FLAGS_OFFSET);
        if ((flags & UsrsctpConstants.MSG_NOTIFICATION) != 0) {
            onNotification(into.segment(), length, received);
        } else {
            received.message(
                    Short.toUnsignedInt(scratch.get(SHORT, INFO_OFFSET)),
                    scratch.get(UsrsctpConstants.BIG_ENDIAN_INT, INFO_OFFSET + UsrsctpConstants.RCVINFO_PPID),
                    length,
                    (flags & UsrsctpConstants.MSG_EOR) != 0);
        }
        return true;
    }

    private void onNotification(MemorySegment event, int length, SctpReceived received) {
        received.event(SctpReceived.Kind.OTHER);
        int type = Short.toUnsignedInt(event.get(UsrsctpConstants.SHORT_ANYWHERE, 0));
        if (type == UsrsctpConstants.SCTP_ADAPTATION_INDICATION && length >= UsrsctpConstants.ADAPTATION_LENGTH) {
            received.adaptation(event.get(UsrsctpConstants.INT_ANYWHERE, UsrsctpConstants.SAI_INDICATION));
        } else if (type == UsrsctpConstants.SCTP_ASSOC_CHANGE && length >= UsrsctpConstants.ASSOC_CHANGE_LENGTH) {
            onAssociationChange(event, received);
        }
    }

    private void onAssociationChange(MemorySegment event, SctpReceived received) {
        switch (Short.toUnsignedInt(event.get(UsrsctpConstants.SHORT_ANYWHERE, UsrsctpConstants.SAC_STATE))) {
            case UsrsctpConstants.SCTP_COMM_UP -> {
                associationId = event.get(UsrsctpConstants.INT_ANYWHERE, UsrsctpConstants.SAC_ASSOC_ID);
                received.up(
                        Short.toUnsignedInt(event.get(UsrsctpConstants.SHORT_ANYWHERE, UsrsctpConstants.SAC_INBOUND)),
                        Short.toUnsignedInt(event.get(UsrsctpConstants.SHORT_ANYWHERE, UsrsctpConstants.SAC_OUTBOUND)));
            }
            case UsrsctpConstants.SCTP_COMM_LOST, UsrsctpConstants.SCTP_CANT_STR_ASSOC ->
                received.event(SctpReceived.Kind.LOST);
            case UsrsctpConstants.SCTP_RESTART -> received.event(SctpReceived.Kind.RESTARTED);
            case UsrsctpConstants.SCTP_SHUTDOWN_COMP -> received.event(SctpReceived.Kind.SHUT_DOWN);
            default -> {
                // There are no other states.
            }
        }
    }

    @Override
    public void shutdown() {
        send(0, UsrsctpConstants.SCTP_EOF, 0, scratch.address() + VALUE_OFFSET, 0);
    }

    @Override
    public void abort(String reason) {
        byte[] octets = reason.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(octets.length, REASON_LENGTH);
        MemorySegment.copy(MemorySegment.ofArray(Arrays.copyOf(octets, length)), 0, scratch, VALUE_OFFSET, length);
        send(0, UsrsctpConstants.SCTP_ABORT, 0, scratch.address() + VALUE_OFFSET, length);
    }

    @Override
    @Nullable
    public SctpSocketStatus status() {
        MemorySegment value = scratch.asSlice(VALUE_OFFSET);
        value.fill((byte) 0);
        value.set(INT, 0, associationId);
        scratch.set(INT, OPTION_LENGTH_OFFSET, UsrsctpConstants.STATUS_LENGTH);
        int result = UsrsctpCalls.getOption(
                callState,
                socket,
                UsrsctpConstants.IPPROTO_SCTP,
                UsrsctpConstants.SCTP_STATUS,
                value.address(),
                scratch.address() + OPTION_LENGTH_OFFSET);
        if (result != 0) {
            return null;
        }
        return new SctpSocketStatus(
                (value.get(INT, UsrsctpConstants.STATUS_PATH_STATE) & UsrsctpConstants.SCTP_ACTIVE) != 0,
                Duration.ofMillis(value.get(INT, UsrsctpConstants.STATUS_SRTT)),
                Duration.ofMillis(value.get(INT, UsrsctpConstants.STATUS_RTO)),
                Integer.toUnsignedLong(value.get(INT, UsrsctpConstants.STATUS_CWND)),
                value.get(INT, UsrsctpConstants.STATUS_MTU),
                Integer.toUnsignedLong(value.get(INT, UsrsctpConstants.STATUS_PEER_RWND)),
                Short.toUnsignedInt(value.get(SHORT, UsrsctpConstants.STATUS_INBOUND)),
                Short.toUnsignedInt(value.get(SHORT, UsrsctpConstants.STATUS_OUTBOUND)));
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            closeSocket();
            table.release(address);
            arena.close();
        }
    }

    private void closeAndWithdraw() {
        closeSocket();
        table.withdraw(address);
        arena.close();
    }

    private void closeSocket() {
        if (socket != 0) {
            // Without lingering the library aborts an association that is still up, and never waits.
            UsrsctpCalls.close(socket);
            socket = 0;
        }
    }
}
