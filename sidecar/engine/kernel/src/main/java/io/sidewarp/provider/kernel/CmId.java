// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.CmChannel.CM;
import static io.sidewarp.provider.kernel.Native.BYTE;
import static io.sidewarp.provider.kernel.Native.INT;
import static io.sidewarp.provider.kernel.Native.LONG;
import static io.sidewarp.provider.kernel.Native.MEMORY;

import io.sidewarp.engine.linux.SocketAddresses;
import io.sidewarp.engine.verbs.ConnectionParameters;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** A connection or a listener of the connection manager. Calls return 0 or a negative error number. */
final class CmId {

    /** Size of struct sockaddr_storage, in bytes. */
    private static final int ADDRESS_LENGTH = 128;

    private final CmChannel channel;
    private final long id;

    CmId(CmChannel channel, long id) {
        this.channel = channel;
        this.id = id;
    }

    /** Returns the context of the device that the connection uses, or 0 while it uses none. */
    long context() {
        return Native.getLong(id + VerbsLayout.CM_ID_VERBS);
    }

    InetSocketAddress localAddress() {
        return SocketAddresses.read(MEMORY.asSlice(id + VerbsLayout.CM_ID_SOURCE, ADDRESS_LENGTH), 0);
    }

    InetSocketAddress remoteAddress() {
        return SocketAddresses.read(MEMORY.asSlice(id + VerbsLayout.CM_ID_DESTINATION, ADDRESS_LENGTH), 0);
    }

    int bind(InetSocketAddress address) {
        try (Arena arena = Arena.ofConfined()) {
            return CM.call("rdma_bind_addr", id, sockaddr(arena, address));
        }
    }

    int listen(int backlog) {
        return CM.call("rdma_listen", id, backlog);
    }

    int resolveAddress(InetSocketAddress remote, Duration timeout) {
        try (Arena arena = Arena.ofConfined()) {
            return CM.call("rdma_resolve_addr", id, 0L, sockaddr(arena, remote), (int) timeout.toMillis());
        }
    }

    int resolveRoute(Duration timeout) {
        return CM.call("rdma_resolve_route", id, (int) timeout.toMillis());
    }

    private static MemorySegment sockaddr(Arena arena, InetSocketAddress address) {
        MemorySegment memory = arena.allocate(ADDRESS_LENGTH, Long.BYTES);
        InetAddress host = address.getAddress();
        SocketAddresses.write(memory, List.of(host), address.getPort());
        return memory;
    }

    /**
     * Must not run on the loop. Some devices, such as siw, return only after TCP has connected or has given up.
     */
    int connect(ConnectionParameters parameters, int qpNumber, boolean shared) {
        try (Arena arena = Arena.ofConfined()) {
            return CM.call("rdma_connect", id, conversion(arena, parameters, qpNumber, shared));
        }
    }

    int accept(ConnectionParameters parameters, int qpNumber, boolean shared) {
        try (Arena arena = Arena.ofConfined()) {
            return CM.call("rdma_accept", id, conversion(arena, parameters, qpNumber, shared));
        }
    }

    private static MemorySegment conversion(
            Arena arena, ConnectionParameters parameters, int qpNumber, boolean shared) {
        MemorySegment converted = arena.allocate(VerbsLayout.CONN_PARAM_LENGTH, Long.BYTES);
        MemorySegment data = privateData(arena, parameters.privateData());
        converted.set(LONG, VerbsLayout.CONN_PRIVATE_DATA, data.address());
        converted.set(BYTE, VerbsLayout.CONN_PRIVATE_DATA_LENGTH, (byte) data.byteSize());
        converted.set(BYTE, VerbsLayout.CONN_RESPONDER_RESOURCES, (byte) parameters.ird());
        converted.set(BYTE, VerbsLayout.CONN_INITIATOR_DEPTH, (byte) parameters.ord());
        converted.set(BYTE, VerbsLayout.CONN_SRQ, (byte) (shared ? 1 : 0));
        converted.set(INT, VerbsLayout.CONN_QP_NUM, qpNumber);
        return converted;
    }

    int reject(byte[] privateData) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = privateData(arena, privateData);
            return CM.call("rdma_reject", id, data, (byte) data.byteSize());
        }
    }

    private static MemorySegment privateData(Arena arena, byte[] octets) {
        return octets.length == 0 ? MemorySegment.NULL : arena.allocateFrom(BYTE, octets);
    }

    int disconnect() {
        return CM.call("rdma_disconnect", id);
    }

    void destroy() {
        channel.destroy(id);
    }
}
