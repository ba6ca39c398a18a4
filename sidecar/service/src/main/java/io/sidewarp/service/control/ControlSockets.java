// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.peer.ApiConnection;
import io.sidewarp.service.peer.ApiConnections;
import io.sidewarp.service.peer.PeerInterceptor;
import io.sidewarp.service.session.SessionRegistry;
import io.sidewarp.service.telemetry.RecentErrors;
import java.io.IOException;
import java.util.function.Supplier;

/**
 * Creates the handlers of control sockets.
 *
 * @param connections counts control sockets like connections to the API
 * @param version version of the sidecar
 * @param volume path of the shared volume
 */
public record ControlSockets(
        SessionRegistry registry,
        ApiConnections connections,
        PeerInterceptor admission,
        PeerLogs logs,
        RecentErrors errors,
        String version,
        String volume)
        implements Supplier<ChannelHandler> {

    @Override
    public ChannelHandler get() {
        return new ControlHandler(this);
    }

    /** Counts a connection, and checks that its peer may use the sidecar. */
    ApiConnection admit(Channel channel) throws IOException {
        ApiConnection connection = connections.open(channel);
        connection.requireAdmitted();
        admission.require(connection.peer());
        return connection;
    }
}
