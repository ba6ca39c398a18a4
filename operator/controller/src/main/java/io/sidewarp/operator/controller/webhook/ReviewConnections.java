// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Connections to the webhook, and the bytes that are held for all of them together: bodies that are incomplete or
 * undecided, and answers that are not read yet. One event loop uses it; only {@link #endBehindAnswers} may be called from
 * elsewhere.
 *
 * <p>Strangers may reach the port. If there is no room, the connection that has kept the webhook waiting longest is cut
 * off. Idle connections therefore cannot keep out the API server, which sends its review at once. Connections whose
 * review is being decided are not cut off.
 */
final class ReviewConnections {
    private final int mostConnections;
    private final long mostOctets;
    private final Runnable tally;

    /** Connections in the order in which the wait for their clients began. */
    private final Set<Connection> connections = new LinkedHashSet<>();

    private long octets;
    private volatile boolean ending;

    /** @param tally called for each connection that is cut off */
    ReviewConnections(int mostConnections, long mostOctets, Runnable tally) {
        this.mostConnections = mostConnections;
        this.mostOctets = mostOctets;
        this.tally = tally;
    }

    /** Opens a connection. Empty if there is no room; then its channel is closed. */
    Optional<Connection> open(Channel channel) {
        if (connections.size() >= mostConnections && !makeRoom(connection -> true)) {
            cutOff(channel);
            return Optional.empty();
        }
        Connection opened = new Connection(channel);
        connections.add(opened);
        channel.closeFuture().addListener(closed -> remove(opened));
        return Optional.of(opened);
    }

    /** Makes each connection end after its next answer. */
    void endBehindAnswers() {
        ending = true;
    }

    /**
     * Removes a closed connection. A review that is being decided still takes its memory, even if nobody waits for the
     * answer.
     */
    private void remove(Connection connection) {
        if (!connection.deciding && connections.remove(connection)) {
            octets -= connection.octets;
        }
    }

    /** Cuts off the matching connection that has kept the webhook waiting longest. Returns whether there was one. */
    private boolean makeRoom(Predicate<Connection> candidate) {
        Optional<Connection> longest = connections.stream()
                .filter(connection -> !connection.deciding && candidate.test(connection))
                .findFirst();
        longest.ifPresent(Connection::cutOff);
        return longest.isPresent();
    }

    /** Closes a channel at once. A client that does not read would block a graceful end of TLS. */
    private void cutOff(Channel channel) {
        tally.run();
        ChannelHandlerContext first = channel.pipeline().firstContext();
        if (first == null) {
            channel.close();
        } else {
            first.close();
        }
    }

    /** One connection, and the bytes that are held for it. */
    final class Connection {
        private final Channel channel;
        private boolean deciding;
        private long octets;

        private Connection(Channel channel) {
            this.channel = channel;
        }

        /** Marks that the client must act next. */
        void waitForClient() {
            deciding = false;
            if (!channel.isOpen()) {
                remove(this);
            } else if (connections.remove(this)) {
                connections.add(this);
            }
        }

        /** Returns whether another request may follow. */
        boolean goesOn() {
            return !ending;
        }

        /** Marks that the review is being decided. */
        void decide() {
            deciding = true;
        }

        /**
         * Sets the bytes that are held for this connection. Cuts off other connections if that makes room.
         *
         * @return whether there is room and the connection still exists
         */
        boolean hold(long wanted) {
            long added = wanted - octets;
            while (ReviewConnections.this.octets + added > mostOctets
                    && makeRoom(other -> other != this && other.octets > 0)) {
                // One more connection was cut off.
            }
            if (!channel.isOpen()
                    || !connections.contains(this)
                    || ReviewConnections.this.octets + added > mostOctets) {
                return false;
            }
            ReviewConnections.this.octets += added;
            octets = wanted;
            return true;
        }

        /** Ends the connection without an answer. */
        void cutOff() {
            // The connection is removed first, so that makeRoom cannot select it again.
            remove(this);
            if (channel.isOpen()) {
                ReviewConnections.this.cutOff(channel);
            }
        }
    }
}
