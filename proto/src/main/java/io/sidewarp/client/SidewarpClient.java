// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.Association;
import io.sidewarp.v1.DeviceInfo;
import io.sidewarp.v1.SessionInfo;
import java.time.Duration;
import java.util.List;

/**
 * The way to a sidecar. Thread-safe; one per process is enough. It connects when the first call needs it.
 */
public interface SidewarpClient extends AutoCloseable {

    /** To the sidecar of the environment's SIDEWARP_API, else to {@value ClientOptions#DEFAULT_TARGET}. */
    static SidewarpClient connect() {
        return connect(ClientOptions.defaults());
    }

    /**
     * To a given sidecar.
     *
     * @param target {@code unix:///run/sidewarp/api.sock}, or {@code host:port} for TCP
     */
    static SidewarpClient connect(String target) {
        return connect(ClientOptions.defaults().withTarget(target));
    }

    /** @throws IllegalArgumentException when the target is neither of the two forms */
    static SidewarpClient connect(ClientOptions options) {
        return new GrpcClient(options);
    }

    /** The target as it was given. */
    String target();

    /** Capabilities and limits of the sidecar, and the provider in use. */
    DeviceInfo device();

    /** Sessions of the caller's user; all sessions for root and the sidecar's own user. */
    List<SessionInfo> listSessions();

    /** Connections of all sessions that the caller may see. */
    List<io.sidewarp.v1.Connection> listConnections();

    /**
     * SCTP associations that carry connections which the caller may see; all of them for root and the sidecar's own user.
     */
    List<Association> listAssociations();

    /** Regions of all sessions that the caller may see. */
    List<io.sidewarp.v1.Region> listRegions();

    /**
     * Opens a session.
     *
     * @param name shown in listings, logs and telemetry, for instance the service's name; at most 64 characters
     */
    Session openSession(String name);

    /**
     * Describes a session that is set up again after a failure, of this sidecar or of a peer.
     *
     * @param name as in {@link #openSession}
     */
    default SupervisedSession.Builder supervise(String name) {
        return new SupervisedSession.Builder(this, name);
    }

    /**
     * Waits until the sidecar is there and says that it serves (grpc.health.v1).
     *
     * @throws SidewarpException DEADLINE_EXCEEDED when it does not in time; the message says what was last seen
     */
    void awaitReady(Duration timeout);

    /**
     * Closes all sessions of this client, as {@link Session#close()} does, and the way to the sidecar.
     *
     * @throws SidewarpException what the first session failed with; that of others is among its suppressed exceptions
     */
    @Override
    void close();
}
