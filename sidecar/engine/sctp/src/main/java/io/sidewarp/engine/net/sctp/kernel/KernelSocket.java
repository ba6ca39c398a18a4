// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.linux.SocketAddresses;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.sctp.MessageSocket;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.socket.SocketApi;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A one-to-many socket of the kernel: either a listener, or the socket of a single association. Belongs to one thread.
 * Its structures are made once, not for each message.
 */
final class KernelSocket implements MessageSocket {

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    /** Longest reason in bytes. A longer reason is cut, so that an ABORT fits into any packet. */
    private static final int REASON_LENGTH = 128;

    private final SocketArea area;
    private final SentMessages sent = new SentMessages();
    private int socket;
    private int association;
    private boolean fragmented;

    private KernelSocket(SocketArea area, int socket) {
        this.area = area;
        this.socket = socket;
    }

    /**
     * Opens a socket at the given addresses.
     *
     * @param port 0 for any free one
     * @throws IOException when the socket cannot have them
     */
    static KernelSocket open(
            SocketArea area, List<InetAddress> local, int port, OptionalInt adaptation, SctpSettings settings)
            throws IOException {
        int opened = create(area.callState(), SocketAddresses.domain(local));
        if (opened < 0) {
            throw new IOException("cannot create an SCTP socket (error number " + -opened + ")");
        }
        KernelSocket socket = new KernelSocket(area, opened);
        try {
            new KernelOptions(area, opened).apply(adaptation, settings);
            socket.bind(local, port);
            return socket;
        } catch (IOException | RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    /** Returns a new socket, or the negative error number. */
    static int create(MemorySegment callState, int domain) {
        return SystemCalls.SOCKET.call(
                callState,
                domain,
                SocketApi.SOCK_SEQPACKET | KernelConstants.SOCK_NONBLOCK | KernelConstants.SOCK_CLOEXEC,
                SocketApi.IPPROTO_SCTP);
    }

    private void bind(List<InetAddress> local, int port) throws IOException {
        int length = SocketAddresses.write(area.value(), local, port);
        int result = setOption(KernelConstants.SCTP_SOCKOPT_BINDX_ADD, length);
        if (result < 0) {
            throw SctpErrors.unbound(local, port, result);
        }
    }

    int descriptor() {
        return socket;
    }

    /** Returns the local port. */
    int port() {
        int result = SystemCalls.GET_NAME.call(
                area.callState(),
                socket,
                area.value().address(),
                area.optionLength(KernelConstants.SOCKADDR_STORAGE_LENGTH));
        SctpErrors.check("getsockname", result);
        return SocketAddresses.read(area.value(), 0).getPort();
    }

    void listen(int backlog) {
        SctpErrors.check("listen", SystemCalls.LISTEN.call(area.callState(), socket, backlog));
    }

    /** Begins an association; {@link #receive} tells when it is up. */
    void connect(List<InetAddress> remote, int port) throws IOException {
        int length = SocketAddresses.write(area.value(), remote, port);
        int result = setOption(KernelConstants.SCTP_SOCKOPT_CONNECTX, length);
        if (result < 0 && result != -SocketApi.EINPROGRESS) {
            throw SctpErrors.unconnected(remote, result);
        }
    }

    /** Returns the identifier of the association that was last reported to be up. */
    int association() {
        return association;
    }

    /** Gives an association of a listener its own socket. */
    KernelSocket peelOff(int which) throws IOException {
        MemorySegment value = area.value();
        value.set(INT, 0, which);
        value.set(INT, KernelConstants.PEELOFF_DESCRIPTOR, 0);
        value.set(INT, KernelConstants.PEELOFF_FLAGS, KernelConstants.SOCK_NONBLOCK | KernelConstants.SOCK_CLOEXEC);
        int result = getOption(
                SocketApi.IPPROTO_SCTP, KernelConstants.SCTP_SOCKOPT_PEELOFF_FLAGS, KernelConstants.PEELOFF_LENGTH);
        if (result < 0) {
            throw new IOException("an association got no socket of its own (error number " + -result + ")");
        }
        KernelSocket peeled = new KernelSocket(area, value.get(INT, KernelConstants.PEELOFF_DESCRIPTOR));
        peeled.association = which;
        return peeled;
    }

    private int setOption(int option, int length) {
        return SystemCalls.SET_OPTION.call(
                area.callState(),
                socket,
                SocketApi.IPPROTO_SCTP,
                option,
                area.value().address(),
                length);
    }

    private int getOption(int level, int option, int length) {
        return SystemCalls.GET_OPTION.call(
                area.callState(), socket, level, option, area.value().address(), area.optionLength(length));
    }

    /**
     * Reads an option about the association into {@link SocketArea#value}. Returns false when there is no association
     * any more.
     */
    boolean inquire(int option, int length) {
        area.value().set(INT, 0, association);
        return getOption(SocketApi.IPPROTO_SCTP, option, length) >= 0;
    }

    // Messages.

    @Override
    public int send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {
        int result;
        try {
            long data = buffer.segment().address() + offset;
            result = send(stream, KernelConstants.SCTP_UNORDERED, payloadProtocol, data, length);
            if (result == -KernelConstants.EMSGSIZE) {
                // The path became narrower after the message was cut. IP would fragment, so SCTP may fragment as well
                // (RFC 5043 section 9).
                fragmented = true;
                KernelOptions options = new KernelOptions(area, socket);
                options.allowFragments(true);
                result = send(stream, KernelConstants.SCTP_UNORDERED, payloadProtocol, data, length);
                options.allowFragments(false);
            }
        } finally {
            Reference.reachabilityFence(buffer);
        }
        if (result >= 0) {
            if (sent.isCrowded()) {
                settle();
            }
            sent.add(length);
            return 0;
        }
        return -result;
    }

    private int send(int stream, int flags, int payloadProtocol, long data, int length) {
        long header = area.outgoing(association, stream, flags, payloadProtocol, data, length);
        return SystemCalls.SEND.call(
                area.callState(), socket, header, KernelConstants.MSG_DONTWAIT | KernelConstants.MSG_NOSIGNAL);
    }

    /** Returns whether a message was too long for one chunk since the last call. */
    boolean takeFragmented() {
        boolean was = fragmented;
        fragmented = false;
        return was;
    }

    @Override
    public boolean receive(WireBuffer into, Receiver receiver) {
        int length;
        try {
            long header = area.incoming(into.segment().address(), into.capacity());
            length = SystemCalls.RECEIVE.call(area.callState(), socket, header, KernelConstants.MSG_DONTWAIT);
        } finally {
            Reference.reachabilityFence(into);
        }
        if (length <= 0) {
            // There is no more input for now, or for ever. In the latter case an earlier event said so.
            return false;
        }
        int flags = area.receivedFlags();
        if ((flags & KernelConstants.MSG_NOTIFICATION) != 0) {
            int newAssociation = Notifications.newAssociation(into.segment(), length);
            if (newAssociation != Notifications.NO_ASSOCIATION) {
                association = newAssociation;
            }
            Notifications.read(into, length, receiver);
        } else if (area.hasReceiveInfo()) {
            receiver.onMessage(
                    area.receivedStream(), area.receivedPayloadProtocol(), length, (flags & SocketApi.MSG_EOR) != 0);
        }
        return true;
    }

    /**
     * Returns how many messages the peer has acknowledged, counted from the first without a gap. The number may lag
     * behind.
     */
    long acknowledged() {
        if (socket >= 0 && sent.isWaiting()) {
            settle();
        }
        return sent.acknowledged();
    }

    private void settle() {
        int result = getOption(SocketApi.SOL_SOCKET, KernelConstants.SO_MEMINFO, KernelConstants.MEMINFO_LENGTH);
        SctpErrors.check("getsockopt of SO_MEMINFO", result);
        sent.settle(Integer.toUnsignedLong(area.value().get(INT, KernelConstants.MEMINFO_WMEM_QUEUED)));
    }

    // Facts.

    /** Returns the peer's primary address and its port, or null when there is no association any more. */
    @Nullable
    InetSocketAddress primary() {
        return inquire(KernelConstants.SCTP_STATUS, SocketApi.STATUS_LENGTH)
                ? SocketAddresses.read(area.value(), SocketApi.STATUS_PRIMARY + KernelConstants.SPINFO_ADDRESS)
                : null;
    }

    /**
     * Returns the bytes of the largest message that fits into one chunk, or 0 when there is no association any more.
     */
    int fragmentationPoint() {
        return inquire(KernelConstants.SCTP_STATUS, SocketApi.STATUS_LENGTH)
                ? area.value().get(INT, KernelConstants.STATUS_FRAGMENTATION_POINT)
                : 0;
    }

    // The end.

    @Override
    public void shutdown() {
        send(0, KernelConstants.SCTP_EOF, 0, area.value().address(), 0);
    }

    @Override
    public void abort(String reason) {
        byte[] octets = reason.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(octets.length, REASON_LENGTH);
        MemorySegment.copy(MemorySegment.ofArray(octets), 0, area.value(), 0, length);
        send(0, KernelConstants.SCTP_ABORT, 0, area.value().address(), length);
    }

    @Override
    public void close() {
        if (socket >= 0) {
            // Without lingering the kernel aborts an association that is still up, and never waits.
            SystemCalls.CLOSE.call(area.callState(), socket);
            socket = -1;
        }
    }
}
