// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.sctp.SctpAssociationFacts;
import io.sidewarp.engine.net.sctp.SctpPacketOutput;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.SctpSocket;
import io.sidewarp.engine.net.sctp.socket.NativeFunction;
import io.sidewarp.engine.net.sctp.socket.SocketApi;
import io.sidewarp.engine.verbs.AssociationPath;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

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
    private final MemorySegment callState = NativeFunction.newCallState(arena);
    private final long address;
    private long socket;
    private int associationId;

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
        long opened = UsrsctpCalls.SOCKET.callForPointer(
                callState, UsrsctpConstants.AF_CONN, SocketApi.SOCK_SEQPACKET, SocketApi.IPPROTO_SCTP);
        if (opened < 0) {
            throw failure("socket", (int) opened);
        }
        socket = opened;
        check("set_non_blocking", UsrsctpCalls.NON_BLOCKING.call(callState, socket, 1));
        new UsrsctpOptions(callState, socket, scratch.asSlice(VALUE_OFFSET)).apply(packetSize, adaptation, settings);
        int result = UsrsctpCalls.BIND.call(callState, socket, sockaddr(localPort), UsrsctpConstants.SOCKADDR_LENGTH);
        if (result == -SocketApi.EADDRINUSE) {
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
        check("listen", UsrsctpCalls.LISTEN.call(callState, socket, 1));
    }

    @Override
    public void connect(int remotePort) {
        int result =
                UsrsctpCalls.CONNECT.call(callState, socket, sockaddr(remotePort), UsrsctpConstants.SOCKADDR_LENGTH);
        if (result != -SocketApi.EINPROGRESS) {
            check("connect", result);
        }
    }

    @Override
    public void input(WireBuffer packet, int offset, int length) {
        try {
            UsrsctpCalls.INPUT.call(callState, address, packet.segment().address() + offset, length, 0);
        } finally {
            Reference.reachabilityFence(packet);
        }
    }

    @Override
    public int send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {
        try {
            long data = buffer.segment().address() + offset;
            int sent = send(stream, UsrsctpConstants.SCTP_UNORDERED, payloadProtocol, data, length);
            return Math.max(0, -sent);
        } finally {
            Reference.reachabilityFence(buffer);
        }
    }

    private int send(int stream, int flags, int payloadProtocol, long data, int length) {
        scratch.set(SHORT, INFO_OFFSET, (short) stream);
        scratch.set(SHORT, INFO_OFFSET + SocketApi.SNDINFO_FLAGS, (short) flags);
        scratch.set(SocketApi.BIG_ENDIAN_INT, INFO_OFFSET + SocketApi.SNDINFO_PPID, payloadProtocol);
        scratch.set(INT, INFO_OFFSET + SocketApi.SNDINFO_CONTEXT, 0);
        scratch.set(INT, INFO_OFFSET + SocketApi.SNDINFO_ASSOC_ID, associationId);
        return UsrsctpCalls.SEND.call(
                callState,
                socket,
                data,
                length,
                0,
                0,
                scratch.address() + INFO_OFFSET,
                SocketApi.SNDINFO_LENGTH,
                UsrsctpConstants.SCTP_SENDV_SNDINFO,
                0);
    }

    @Override
    public boolean receive(WireBuffer into, Receiver receiver) {
        if (socket == 0) {
            return false;
        }
        scratch.set(INT, INFO_LENGTH_OFFSET, SocketApi.RCVINFO_LENGTH);
        scratch.set(INT, FLAGS_OFFSET, 0);
        long base = scratch.address();
        int length = UsrsctpCalls.RECEIVE.call(
                callState,
                socket,
                into.segment().address(),
                into.capacity(),
                0,
                0,
                base + INFO_OFFSET,
                base + INFO_LENGTH_OFFSET,
                base + INFO_TYPE_OFFSET,
                base + FLAGS_OFFSET);
        if (length <= 0) {
            return false;
        }
        int flags = scratch.get(INT, FLAGS_OFFSET);
        if ((flags & UsrsctpConstants.MSG_NOTIFICATION) != 0) {
            onNotification(into.segment(), length, receiver);
        } else {
            receiver.onMessage(
                    unsigned(scratch, INFO_OFFSET),
                    scratch.get(SocketApi.BIG_ENDIAN_INT, INFO_OFFSET + SocketApi.RCVINFO_PPID),
                    length,
                    (flags & SocketApi.MSG_EOR) != 0);
        }
        return true;
    }

    private void onNotification(MemorySegment event, int length, Receiver receiver) {
        int type = unsigned(event, 0);
        if (type == UsrsctpConstants.SCTP_ADAPTATION_INDICATION && length >= SocketApi.ADAPTATION_LENGTH) {
            receiver.onAdaptation(event.get(SocketApi.INT, SocketApi.SAI_INDICATION));
        } else if (type == UsrsctpConstants.SCTP_ASSOC_CHANGE && length >= SocketApi.ASSOC_CHANGE_LENGTH) {
            onAssociationChange(event, receiver);
        }
    }

    private void onAssociationChange(MemorySegment event, Receiver receiver) {
        switch (unsigned(event, SocketApi.SAC_STATE)) {
            case UsrsctpConstants.SCTP_COMM_UP -> {
                associationId = event.get(SocketApi.INT, SocketApi.SAC_ASSOC_ID);
                receiver.onUp(unsigned(event, SocketApi.SAC_INBOUND), unsigned(event, SocketApi.SAC_OUTBOUND));
            }
            case UsrsctpConstants.SCTP_COMM_LOST, UsrsctpConstants.SCTP_CANT_STR_ASSOC -> receiver.onLost(null);
            case UsrsctpConstants.SCTP_RESTART -> receiver.onRestarted();
            case UsrsctpConstants.SCTP_SHUTDOWN_COMP -> receiver.onShutDown();
            default -> {
                // There are no other states.
            }
        }
    }

    private static int unsigned(MemorySegment memory, long offset) {
        return Short.toUnsignedInt(memory.get(SocketApi.SHORT, offset));
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
    public SctpAssociationFacts facts(InetAddress remote, int pathMtu, long unacknowledged, long pending) {
        MemorySegment value = scratch.asSlice(VALUE_OFFSET);
        value.fill((byte) 0);
        value.set(INT, 0, associationId);
        scratch.set(INT, OPTION_LENGTH_OFFSET, SocketApi.STATUS_LENGTH);
        int result = UsrsctpCalls.GET_OPTION.call(
                callState,
                socket,
                SocketApi.IPPROTO_SCTP,
                UsrsctpConstants.SCTP_STATUS,
                value.address(),
                scratch.address() + OPTION_LENGTH_OFFSET);
        if (result != 0) {
            return SctpAssociationFacts.NONE;
        }
        MemorySegment path = value.asSlice(SocketApi.STATUS_PRIMARY);
        AssociationPath onlyPath = new AssociationPath(
                remote,
                true,
                (path.get(INT, SocketApi.SPINFO_STATE) & UsrsctpConstants.SCTP_ACTIVE) != 0,
                Duration.ofMillis(path.get(INT, SocketApi.SPINFO_SRTT)),
                Duration.ofMillis(path.get(INT, SocketApi.SPINFO_RTO)),
                Integer.toUnsignedLong(path.get(INT, SocketApi.SPINFO_CWND)),
                Math.min(path.get(INT, SocketApi.SPINFO_MTU), pathMtu));
        return new SctpAssociationFacts(
                List.of(onlyPath),
                Integer.toUnsignedLong(value.get(INT, SocketApi.STATUS_PEER_RWND)),
                unsigned(value, SocketApi.STATUS_INBOUND),
                unsigned(value, SocketApi.STATUS_OUTBOUND),
                unacknowledged,
                pending);
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
            UsrsctpCalls.CLOSE.call(callState, socket);
            socket = 0;
        }
    }
}
