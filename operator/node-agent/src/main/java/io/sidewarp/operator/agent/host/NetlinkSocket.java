// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A raw AF_NETLINK socket that sends a request and waits for the whole answer. An answer is an acknowledgement, or all
 * parts of a dump. Not thread-safe.
 */
final class NetlinkSocket implements AutoCloseable {

    static final int NETLINK_GENERIC = 16;
    static final int NETLINK_RDMA = 20;

    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_RCVTIMEO = 20;
    private static final int SOL_NETLINK = 270;
    private static final int NETLINK_CAP_ACK = 10;
    private static final int NETLINK_EXT_ACK = 11;
    private static final int MSG_TRUNC = 0x20;

    private static final int NLM_F_REQUEST = 1;
    private static final int NLM_F_ACK = 4;
    private static final int NLM_F_DUMP = 0x300;
    private static final int NLM_F_DUMP_INTERRUPTED = 0x10;
    private static final int NLM_F_CAPPED = 0x100;
    private static final int NLM_F_ACK_TLVS = 0x200;
    private static final int NLMSG_ERROR = 2;
    private static final int NLMSG_DONE = 3;
    private static final int NLMSGERR_ATTR_MSG = 1;

    // struct nlmsghdr
    private static final int HEADER_LENGTH = 16;
    private static final int TYPE_OFFSET = 4;
    private static final int FLAGS_OFFSET = 6;
    private static final int SEQUENCE_OFFSET = 8;

    /** Size of the receive buffer. The kernel writes at most 32 KiB for one part of a dump. */
    private static final int RECEIVE_BUFFER = 64 * 1024;

    /** Maximum number of requests for a list that changes while the kernel writes it. */
    private static final int DUMP_ATTEMPTS = 5;

    private static final long MICROSECONDS_PER_SECOND = 1_000_000;

    private final int socket;
    private int sequence;

    private NetlinkSocket(int socket) {
        this.socket = socket;
    }

    /**
     * Opens a socket.
     *
     * @throws HostException EPROTONOSUPPORT if the kernel has neither the protocol nor a module for it
     */
    static NetlinkSocket open(int protocol, Duration timeout) throws HostException {
        int socket = LinuxCalls.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
        if (socket < 0) {
            throw new HostException("opening a netlink socket of protocol " + protocol, -socket, "");
        }
        NetlinkSocket opened = new NetlinkSocket(socket);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment one = arena.allocateFrom(ValueLayout.JAVA_INT, 1);
            opened.setOption(SOL_NETLINK, NETLINK_CAP_ACK, one);
            opened.setOption(SOL_NETLINK, NETLINK_EXT_ACK, one);
            long microseconds = timeout.toNanos() / 1_000;
            opened.setOption(
                    SOL_SOCKET,
                    SO_RCVTIMEO,
                    arena.allocateFrom(
                            ValueLayout.JAVA_LONG,
                            microseconds / MICROSECONDS_PER_SECOND,
                            microseconds % MICROSECONDS_PER_SECOND));
            return opened;
        } catch (HostException | RuntimeException | Error e) {
            opened.close();
            throw e;
        }
    }

    private void setOption(int level, int option, MemorySegment value) throws HostException {
        int result = LinuxCalls.setOption(socket, level, option, value);
        if (result < 0) {
            throw new HostException("setting option " + option + " of a netlink socket", -result, "");
        }
    }

    /**
     * Requests one object or one action.
     *
     * @param operation operation in words, for the message of an error
     * @return messages before the acknowledgement, without their headers
     */
    List<ByteBuffer> request(String operation, int type, byte[] payload) throws HostException {
        return exchange(operation, type, NLM_F_REQUEST | NLM_F_ACK, payload).messages;
    }

    /** Requests a list. */
    List<ByteBuffer> dump(String operation, int type, byte[] payload) throws HostException {
        for (int attempt = 1; attempt <= DUMP_ATTEMPTS; attempt++) {
            Answer answer = exchange(operation, type, NLM_F_REQUEST | NLM_F_DUMP, payload);
            if (!answer.interrupted) {
                return answer.messages;
            }
        }
        throw new HostException(operation, Errno.EINTR.number(), "the list changed while it was read");
    }

    private record Answer(List<ByteBuffer> messages, boolean interrupted) {}

    private Answer exchange(String operation, int type, int flags, byte[] payload) throws HostException {
        send(operation, type, flags, payload);
        List<ByteBuffer> messages = new ArrayList<>();
        boolean interrupted = false;
        while (true) {
            ByteBuffer received = receive(operation);
            while (received.remaining() >= HEADER_LENGTH) {
                int start = received.position();
                int length = received.getInt(start);
                if (length < HEADER_LENGTH || length > received.remaining()) {
                    throw new HostException(operation, Errno.EIO.number(), "the kernel's answer is cut off");
                }
                int messageType = Short.toUnsignedInt(received.getShort(start + TYPE_OFFSET));
                int messageFlags = Short.toUnsignedInt(received.getShort(start + FLAGS_OFFSET));
                ByteBuffer message = slice(received, start + HEADER_LENGTH, length - HEADER_LENGTH);
                boolean ours = received.getInt(start + SEQUENCE_OFFSET) == sequence;
                received.position(Math.min(received.limit(), start + NetlinkAttributes.align(length)));
                if (!ours) {
                    // Rest of an earlier answer whose request was abandoned.
                    continue;
                }
                interrupted |= (messageFlags & NLM_F_DUMP_INTERRUPTED) != 0;
                if (messageType == NLMSG_ERROR || messageType == NLMSG_DONE) {
                    check(operation, messageType, messageFlags, message);
                    return new Answer(messages, interrupted);
                }
                messages.add(message);
            }
        }
    }

    private void send(String operation, int type, int flags, byte[] payload) throws HostException {
        sequence++;
        int length = HEADER_LENGTH + payload.length;
        ByteBuffer message = ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
        message.putInt(length)
                .putShort((short) type)
                .putShort((short) flags)
                .putInt(sequence)
                .putInt(0)
                .put(payload);
        int sent = LinuxCalls.send(socket, MemorySegment.ofBuffer(message.flip()));
        if (sent < 0) {
            throw new HostException(operation, -sent, "");
        }
    }

    private ByteBuffer receive(String operation) throws HostException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(RECEIVE_BUFFER).order(ByteOrder.nativeOrder());
        int received;
        do {
            received = LinuxCalls.receive(socket, MemorySegment.ofBuffer(buffer), MSG_TRUNC);
        } while (received == -Errno.EINTR.number());
        if (received < 0) {
            throw new HostException(operation, -received, "");
        }
        if (received > RECEIVE_BUFFER) {
            throw new HostException(operation, Errno.EIO.number(), "the kernel's answer is longer than expected");
        }
        return buffer.limit(received);
    }

    /** Reads struct nlmsgerr. The end of a dump contains only its error number. */
    private static void check(String operation, int type, int flags, ByteBuffer message) throws HostException {
        int error = message.remaining() >= Integer.BYTES ? message.getInt(0) : 0;
        if (error == 0) {
            return;
        }
        String explanation = "";
        int attributes = Integer.BYTES;
        if (type == NLMSG_ERROR) {
            // The header of the request follows, and the request itself unless the kernel leaves it out (NLM_F_CAPPED).
            boolean capped = (flags & NLM_F_CAPPED) != 0;
            attributes += capped ? HEADER_LENGTH : NetlinkAttributes.align(message.getInt(Integer.BYTES));
        }
        if ((flags & NLM_F_ACK_TLVS) != 0 && message.remaining() > attributes) {
            explanation = NetlinkAttributes.parse(slice(message, attributes, message.remaining() - attributes))
                    .string(NLMSGERR_ATTR_MSG)
                    .orElse("");
        }
        throw new HostException(operation, -error, explanation);
    }

    private static ByteBuffer slice(ByteBuffer buffer, int index, int length) {
        return buffer.slice(index, length).order(ByteOrder.nativeOrder());
    }

    @Override
    public void close() {
        LinuxCalls.close(socket);
    }
}
