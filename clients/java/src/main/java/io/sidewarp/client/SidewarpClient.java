// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;
import java.util.List;

/**
 * A client of one sidecar. Thread-safe; one instance for each process is enough. The client connects when the first
 * call needs it.
 */
public interface SidewarpClient extends AutoCloseable {

    /**
     * Creates a client of the sidecar that SIDEWARP_API names in the environment. Without SIDEWARP_API, the target is
     * {@value ClientOptions#DEFAULT_TARGET}.
     */
    static SidewarpClient connect() {
        return connect(ClientOptions.defaults());
    }

    /**
     * Creates a client of a given sidecar.
     *
     * @param target {@code unix:///run/sidewarp/api.sock}, or {@code host:port} for TCP
     */
    static SidewarpClient connect(String target) {
        return connect(ClientOptions.defaults().withTarget(target));
    }

    /**
     * Creates a client with options.
     *
     * @throws IllegalArgumentException if the target has neither of the two forms
     */
    static SidewarpClient connect(ClientOptions options) {
        return new GrpcClient(options);
    }

    /** Returns the target as it was given. */
    String target();

    /** Returns the capabilities and limits of the sidecar, and the provider in use. */
    RdmaDeviceInfo device();

    /** Lists the sessions of the caller's user. Root and the sidecar's own user see all sessions. */
    List<OpenSessionInfo> listSessions();

    /** Lists the connections of all sessions that the caller may see. */
    List<ConnectionInfo> listConnections();

    /**
     * Lists the SCTP associations that carry connections which the caller may see. Root and the sidecar's own user see
     * all associations.
     */
    List<AssociationInfo> listAssociations();

    /** Lists the regions of all sessions that the caller may see. */
    List<RegionInfo> listRegions();

    /**
     * Opens a session.
     *
     * @param name name for listings, logs and telemetry, for example the name of the service; at most 64 characters
     */
    Session openSession(String name);

    /**
     * Describes a session that is set up again after a failure of this sidecar or of a peer.
     *
     * @param name as in {@link #openSession}
     */
    default SupervisedSession.Builder supervise(String name) {
        return new SupervisedSession.Builder(this, name);
    }

    /**
     * Waits until the sidecar answers and reports that it serves (grpc.health.v1).
     *
     * @throws SidewarpException DEADLINE_EXCEEDED if the sidecar is not ready in time; the message names the last
     *     answer
     */
    void awaitReady(Duration timeout);

    /**
     * Closes all sessions of this client, as {@link Session#close()} does, and the connection to the sidecar.
     *
     * @throws SidewarpException the failure of the first session; failures of other sessions are its suppressed
     *     exceptions
     */
    @Override
    void close();
}
