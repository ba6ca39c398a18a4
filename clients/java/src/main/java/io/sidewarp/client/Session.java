// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * An open session, like an open verbs device. Regions, connections and listeners belong to a session. The sidecar
 * releases them when the session ends: by {@link #close()}, or because this process or the sidecar died. When the
 * session is lost, everything outstanding fails with a {@link SidewarpException} that reports the loss.
 *
 * <p>A method that creates an object fails if its thread is interrupted, or if the time limit of calls expires. Nothing
 * remains at the sidecar in that case: an object that is created late is released.
 */
public interface Session extends AutoCloseable {

    /** Returns the token that names the session in calls. A process that knows the token can use the session. */
    String id();

    /** Returns the name given to {@link SidewarpClient#openSession}. */
    String name();

    /** Returns the limits of this session and of its objects. */
    SessionLimits limits();

    /** Returns the protection domain of calls that name none. */
    long defaultProtectionDomain();

    ProtectionDomain allocateProtectionDomain();

    /** Adds a listener for this session's events. */
    Subscription onEvent(SessionListener listener);

    /**
     * Creates a file in the shared volume, registers it, and maps it in this process. The file is removed with the
     * region.
     *
     * @param path relative to the shared volume; must not exist
     * @param length bytes, at least 1
     * @throws SidewarpException ALREADY_EXISTS, INVALID_ARGUMENT (path), RESOURCE_EXHAUSTED (limits, space);
     *     FAILED_PRECONDITION if the volume is not mounted in this process
     */
    default SharedRegion createSharedRegion(String path, long length, Access... access) {
        return createSharedRegion(path, length, RegionOptions.of(access));
    }

    default SharedRegion createSharedRegion(String path, long length, RegionOptions options) {
        return createSharedRegion(path, length, CreateMode.MUST_BE_NEW, options);
    }

    /**
     * Creates a file in the shared volume, or takes over a file that a killed sidecar left. The method registers the
     * file and maps it in this process. {@link SharedRegion#fileExisted()} returns whether the file was taken over.
     *
     * <p>A lost session of this client may still have the same part of the same file mapped. The new region then uses
     * that mapping. Any other mapping of this path by a lost session is removed. Otherwise memory of another file with
     * the same path would stay charged to the volume.
     *
     * @throws SidewarpException as {@link #createSharedRegion(String, long, Access...)}; the message of ALREADY_EXISTS
     *     names the holder of the file
     */
    default SharedRegion createSharedRegion(String path, long length, CreateMode mode, Access... access) {
        return createSharedRegion(path, length, mode, RegionOptions.of(access));
    }

    SharedRegion createSharedRegion(String path, long length, CreateMode mode, RegionOptions options);

    /**
     * Registers and maps a part of an existing file of the shared volume.
     *
     * @param offset begin of the region in the file, a multiple of the device's page size
     * @param length bytes; 0 for everything up to the end of the file
     * @throws SidewarpException as {@link #createSharedRegion}, and NOT_FOUND
     */
    default SharedRegion openSharedRegion(String path, long offset, long length, Access... access) {
        return openSharedRegion(path, offset, length, RegionOptions.of(access));
    }

    SharedRegion openSharedRegion(String path, long offset, long length, RegionOptions options);

    /**
     * Registers memory of the sidecar.
     *
     * @param length bytes, 1 to {@code limits().maxManagedRegionBytes()}
     * @throws SidewarpException INVALID_ARGUMENT (length 0); RESOURCE_EXHAUSTED beyond the limits of the session, or
     *     beyond those of the sidecar for all managed regions
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
     * @param capacity receives that can be outstanding, at most {@code limits().maxReceiveQueue()}; 0 for the
     *     sidecar's default
     * @param protectionDomain {@link ProtectionDomain#id()} of the connections that will use the queue
     * @throws SidewarpException RESOURCE_EXHAUSTED beyond the limits, NOT_FOUND (protection domain)
     */
    SharedReceiveQueue createSharedReceiveQueue(int capacity, long protectionDomain);

    /** Creates a connection with default options, as {@link #createConnection(ConnectionOptions)}. */
    default Connection createConnection() {
        return createConnection(ConnectionOptions.defaults());
    }

    /**
     * Creates a connection that one later {@link #connect(String, int, Connection)} or
     * {@link IncomingConnection#accept(Connection)} will use. The connection takes receives at once. Receives that are
     * posted on queues before that call are in place before the peer's first message. Send work is refused until the
     * connection is established. Close the connection if it is not used.
     *
     * @param options the private data goes with connect or accept. A listener's options complete the other options,
     *     except protection domain, queue sizes and shared receives.
     */
    Connection createConnection(ConnectionOptions options);

    /** Connects with default options. */
    default Connection connect(String host, int port) {
        return connect(host, port, ConnectionOptions.defaults());
    }

    /**
     * Connects to a listening iWARP endpoint. Returns when the peer has accepted.
     *
     * @throws ConnectionRejectedException if the peer rejected
     * @throws SidewarpException UNAVAILABLE if nothing listens there. The exception has an
     *     {@link SidewarpException#rdmaError()} if the peer violated the rules of start-up, as a peer without iWARP
     *     does. Other codes include DEADLINE_EXCEEDED.
     */
    default Connection connect(String host, int port, ConnectionOptions options) {
        Transport.checkMayBlock();
        return CallFuture.await(connectAsync(host, port, options));
    }

    /**
     * Connects as {@link #connect(String, int, ConnectionOptions)} does, without waiting. If the future is cancelled or
     * times out, the attempt continues until its own time limit ({@link ConnectionOptions.Builder#timeout}). A
     * connection that it establishes after that is aborted.
     */
    CompletableFuture<Connection> connectAsync(String host, int port, ConnectionOptions options);

    /**
     * Connects a connection of {@link #createConnection(ConnectionOptions)}, with the options given there. Otherwise
     * works as {@link #connect(String, int, ConnectionOptions)}. The attempt begins behind the work that was posted to
     * the connection on queues.
     *
     * <p>An attempt that fails closes the connection. A call that the sidecar refuses leaves the connection idle; the
     * code is then INVALID_ARGUMENT, FAILED_PRECONDITION or RESOURCE_EXHAUSTED, for example.
     *
     * @return the same connection
     */
    default Connection connect(String host, int port, Connection created) {
        Transport.checkMayBlock();
        return CallFuture.await(connectAsync(host, port, created));
    }

    /**
     * Connects as {@link #connect(String, int, Connection)} does, without waiting. A cancelled future works as for
     * {@link #connectAsync(String, int, ConnectionOptions)}.
     */
    CompletableFuture<Connection> connectAsync(String host, int port, Connection created);

    /**
     * Listens. The handler is called for each connection request, on a virtual thread of its own. The handler may
     * block, and may serve the connection until it ends.
     *
     * <p>The request is rejected if the handler throws before its decision, or after a decision that the sidecar
     * refused. The exception goes to the log ({@link System.Logger}); a {@link SidewarpException} takes one line.
     *
     * @param address IP address; empty for all addresses that the sidecar's configuration permits
     * @param port 0 for any free port; {@link Listener#port()} returns the port
     */
    default Listener listen(String address, int port, Consumer<IncomingConnection> handler) {
        return listen(address, port, ListenOptions.defaults(), handler);
    }

    Listener listen(String address, int port, ListenOptions options, Consumer<IncomingConnection> handler);

    /**
     * Opens a queue of work requests: over rings in shared memory if they are possible, else over gRPC.
     *
     * @param outstanding requests that may be outstanding; 0 for the sidecar's default. The sidecar may grant another
     *     number. Over rings, receives hold at most all but one, so that send work always has room.
     * @throws IllegalArgumentException if {@code outstanding} is negative
     */
    default WorkQueue openQueue(int outstanding) {
        return openQueue(QueueOptions.defaults().withOutstanding(outstanding));
    }

    /**
     * Opens a queue of work requests on the path that the options name: rings in shared memory, or gRPC.
     *
     * @throws SidewarpException FAILED_PRECONDITION or UNIMPLEMENTED if the options require rings and rings are not
     *     possible; the message names the reason and the remedy
     */
    WorkQueue openQueue(QueueOptions options);

    /** Lists the regions of this session. */
    List<RegionInfo> listRegions();

    /** Lists the connections of this session. */
    List<ConnectionInfo> listConnections();

    /** Returns a future that completes when the session is closed, and fails when the session is lost. */
    CompletableFuture<Void> closed();

    /**
     * Disconnects the connections, as {@link Connection#disconnect()} does, and ends the session. When this method
     * returns, the sidecar has released everything that the session created.
     *
     * <p>Shared regions that were not closed are unmapped here, even if the session was lost before. Their memory must
     * not be used any more. On the client's event loop the method does not wait, and the connections are aborted.
     *
     * @throws SidewarpException if earlier data of a connection may not have arrived, and no disconnect or close of the
     *     connection has reported the loss; the session is closed nevertheless
     */
    @Override
    void close();
}
