// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.verbs.AssociationAttributes;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.ListenAttributes;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A lower layer of one software device besides TCP: SCTP. */
public interface SoftwareLowerLayer {

    /** Opens the lower layer of a device. */
    @FunctionalInterface
    interface Factory {

        /** @param loop event loop for all connections over the lower layer */
        SoftwareLowerLayer open(SoftwareDevice device, EventLoop loop);
    }

    /** Returns why the lower layer cannot be used and what to do. Empty if it can be used. */
    Optional<String> absence();

    /** Returns the event loop of all connections. */
    EventLoop loop();

    /** Creates a listener that is not bound yet. */
    SoftwareListener listener(ListenAttributes attributes, ConnectionRequestHandler handler);

    /** Creates the set-up of a connection from this side. The caller starts it on the event loop. */
    OutgoingSetup connect(
            SoftwareQueuePair queuePair, List<InetSocketAddress> remotes, ConnectionParameters parameters);

    /** Returns the attributes of all established associations. Any thread. */
    CompletableFuture<List<AssociationAttributes>> associations();

    /** Ends all connections at once. */
    CompletableFuture<Void> close();
}
