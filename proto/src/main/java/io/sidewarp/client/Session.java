// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.Limits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * An open session, like an open verbs device. Regions, connections and listeners belong to it and are released by the
 * sidecar when it ends: by {@link #close()}, or because this process or the sidecar died. When it is lost, everything
 * outstanding fails with a {@link SidewarpException} that says so.
 *
 * <p>A method that creates something and fails because its thread is interrupted, or because the time limit of calls is
 * over, leaves nothing at the sidecar: what is created late is released.
 */
public interface Session extends AutoCloseable {

    /** Names the session in calls. Whoever knows it can use the session. */
    String id();

    /** The name given to {@link SidewarpClient#openSession}. */
    String name();

    Limits limits();

    /** The protection domain that is used when none is named. */
    long defaultProtectionDomain();

    ProtectionDomain allocateProtectionDomain();

    /** Adds a listener for this session's events. */
    Subscription onEvent(SessionListener listener);

    /**
     * Creates a file in the shared volume, registers it, and maps it here. The file is removed with the region.
     *
     * @param path relative to the shared volume; must not exist
     * @param length octets, at least 1
     * @throws SidewarpException ALREADY_EXISTS, INVALID_ARGUMENT (path), RESOURCE_EXHAUSTED (limits, space);
     *     FAILED_PRECONDITION when the volume is not mounted in this process
     */
    default SharedRegion createSharedRegion(String path, long length, Access... access) {
        return createSharedRegion(path, length, RegionOptions.of(access));
    }

    default SharedRegion createSharedRegion(String path, long length, RegionOptions options) {
        return createSharedRegion(path, length, CreateMode.MUST_BE_NEW, options);
    }

    /**
     * Creates a file in the shared volume, or takes over what a killed sidecar left, registers it, and maps it here.
     * {@link SharedRegion#fileExisted()} tells which of the two.
     *
     * <p>Where a lost session of this client still has the same part of the same file mapped, the new region uses that
     * mapping. Any other mapping which lost sessions have of this path is undone: memory of another file that had the
     * path would stay charged to the volume.
     *
     * @throws SidewarpException as {@link #createSharedRegion(String, long, Access...)}; ALREADY_EXISTS says what holds the
     *     file
     */
    default SharedRegion createSharedRegion(String path, long length, CreateMode mode, Access... access) {
        return createSharedRegion(path, length, mode, RegionOptions.of(access));
    }

    SharedRegion createSharedRegion(String path, long length, CreateMode mode, RegionOptions options);

    /**
     * Registers and maps a part of an existing file of the shared volume.
     *
     * @param offset where the region begins in the file, a multiple of the device's page size
     * @param length octets; 0 for everything up to the end of the file
     * @throws SidewarpException as {@link #createSharedRegion}, and NOT_FOUND
     */
    default SharedRegion openSharedRegion(String path, long offset, long length, Access... access) {
        return openSharedRegion(path, offset, length, RegionOptions.of(access));
    }

    SharedRegion openSharedRegion(String path, long offset, long length, RegionOptions options);

    /**
     * Registers memory of the sidecar.
     *
     * @param length octets, 1 to {@code limits().getMaxManagedRegionOctets()}
     * @throws SidewarpException INVALID_ARGUMENT (length 0), RESOURCE_EXHAUSTED beyond the limits of the session, or those
     *     of the sidecar for all managed regions
     */
    default ManagedRegion registerManaged(long length, Access... access) {
        return registerManaged(length, RegionOptions.of(access));
    }

    ManagedRegion registerManaged(long length, RegionOptions options);

    /** Creates a shared receive queue in the default protection domain. */
    default SharedReceiveQueue createSharedReceiveQueue(int capacity) {
        return createSharedReceiveQueue(capacity, defaultProtectionDomain());
    }

    /**
     * Creates a shared receive queue.
     *
     * @param capacity receives that can be outstanding, at most {@code limits().getMaxReceiveQueue()}; 0 for the
     *     sidecar's default
     * @param protectionDomain {@link ProtectionDomain#id()} of the connections that will use it
     * @throws SidewarpException RESOURCE_EXHAUSTED beyond the limits, NOT_FOUND (protection domain)
     */
    SharedReceiveQueue createSharedReceiveQueue(int capacity, long protectionDomain);

    /** Creates a connection with defaults, as {@link #createConnection(ConnectionOptions)}. */
    default Connection createConnection() {
        return createConnection(ConnectionOptions.defaults());
    }

    /**
     * Creates a connection that one {@link #connect(String, int, Connection)} or {@link IncomingConnection#accept(Connection)}
     * will use. It takes receives at once: those that are posted on queues before that call come before the peer's first
     * message. Send work is refused until the connection is established. Close it when it is not used.
     *
     * @param options the private data goes with connect or accept; a listener's options complete the others, but for
     *     protection domain, queue sizes and shared receives
     */
    Connection createConnection(ConnectionOptions options);

    /** Connects with defaults. */
    default Connection connect(String host, int port) {
        return connect(host, port, ConnectionOptions.defaults());
    }

    /**
     * Connects to a listening iWARP endpoint. Returns when the peer accepted.
     *
     * @throws ConnectionRejectedException when the peer rejected
     * @throws SidewarpException UNAVAILABLE when nothing listens there, and with an {@link SidewarpException#rdmaError()}
     *     when the peer broke the rules of start-up, as one does that is not iWARP; DEADLINE_EXCEEDED, and others
     */
    Connection connect(String host, int port, ConnectionOptions options);

    /**
     * As {@link #connect(String, int, ConnectionOptions)}, without waiting. When the future is cancelled or times out, the
     * attempt continues until its own time limit ({@link ConnectionOptions.Builder#timeout}), and a connection that it then
     * establishes is aborted.
     */
    CompletableFuture<Connection> connectAsync(String host, int port, ConnectionOptions options);

    /**
     * As {@link #connect(String, int, ConnectionOptions)}, with a connection of {@link #createConnection(ConnectionOptions)} and
     * its options, behind what was posted to it on queues. An attempt that fails closes the connection. A call that the sidecar
     * refuses, as with INVALID_ARGUMENT, FAILED_PRECONDITION or RESOURCE_EXHAUSTED, leaves it idle.
     *
     * @return the same connection
     */
    Connection connect(String host, int port, Connection created);

    /** As {@link #connect(String, int, Connection)}, without waiting; see {@link #connectAsync(String, int, ConnectionOptions)}. */
    CompletableFuture<Connection> connectAsync(String host, int port, Connection created);

    /**
     * Listens. The handler is called for each connection request, on a virtual thread of its own: it may block, and
     * may serve the connection until it ends.
     *
     * <p>When the handler throws before it decided, or after a decision that the sidecar refused, the request is
     * rejected. What it throws goes to the log ({@link System.Logger}), a {@link SidewarpException} in one line.
     *
     * @param address IP address; empty for all that the sidecar's configuration permits
     * @param port 0 for any free port; {@link Listener#port()} tells which
     */
    default Listener listen(String address, int port, Consumer<IncomingConnection> handler) {
        return listen(address, port, ListenOptions.defaults(), handler);
    }

    Listener listen(String address, int port, ListenOptions options, Consumer<IncomingConnection> handler);

    /**
     * Opens a queue of work requests: over rings in shared memory where they are possible, else over gRPC.
     *
     * @param outstanding requests that may be outstanding; 0 for the sidecar's default. It may grant fewer.
     * @throws IllegalArgumentException when {@code outstanding} is negative
     */
    WorkQueue openQueue(int outstanding);

    /**
     * Opens a queue of work requests on the path that the options name: rings in shared memory, or
     * gRPC.
     *
     * @throws SidewarpException FAILED_PRECONDITION or UNIMPLEMENTED when the options want rings and they are not possible; the
     *     message says why, and what to do
     */
    WorkQueue openQueue(QueueOptions options);

    /** Regions of this session. */
    List<io.sidewarp.v1.Region> listRegions();

    /** Connections of this session. */
    List<io.sidewarp.v1.Connection> listConnections();

    /** Completes when the session is closed, and fails when it is lost. */
    CompletableFuture<Void> closed();

    /**
     * Disconnects the connections, as {@link Connection#disconnect()} does, and ends the session; the sidecar has released
     * everything that it created when this returns. Shared regions that were not closed are unmapped here, also when the
     * session was lost before. Their memory must not be used any more. On the client's event loop it does not wait: the
     * connections are aborted.
     *
     * @throws SidewarpException when earlier data of a connection may not have arrived, and no disconnect or close of the
     *     connection has told so; the session is closed all the same
     */
    @Override
    void close();
}
