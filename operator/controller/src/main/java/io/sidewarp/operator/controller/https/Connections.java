// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Connections to a server, and the bytes that are held for all of them together: bodies that are incomplete or
 * unanswered, and answers that are not read yet. One event loop uses it; only {@link #endBehindAnswers} may be called from
 * elsewhere.
 *
 * <p>Strangers may reach the port. If there is no room, the connection that has kept the server waiting longest is cut
 * off. Idle connections therefore cannot keep out a client that sends its request at once. Connections whose request is
 * being answered are not cut off.
 */
final class Connections {
    private final int mostConnections;
    private final long mostOctets;
    private final Runnable tally;

    /** Connections in the order in which the wait for their clients began. */
    private final Set<Connection> connections = new LinkedHashSet<>();

    private long octets;
    private volatile boolean ending;

    /** @param tally called for each connection that is cut off */
    Connections(int mostConnections, long mostOctets, Runnable tally) {
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
     * Removes a closed connection. A request that is being answered still takes its memory, even if nobody waits
     * for the answer.
     */
    private void remove(Connection connection) {
        if (!connection.answering && connections.remove(connection)) {
            octets -= connection.octets;
        }
    }

    /** Cuts off the matching connection that has kept the server waiting longest. Returns whether there was one. */
    private boolean makeRoom(Predicate<Connection> candidate) {
        Optional<Connection> longest = connections.stream()
                .filter(connection -> !connection.answering && candidate.test(connection))
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
        private boolean answering;
        private long octets;

        private Connection(Channel channel) {
            this.channel = channel;
        }

        /** Marks that the client must act next. */
        void waitForClient() {
            answering = false;
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

        /** Marks that the request is being answered. */
        void beginAnswer() {
            answering = true;
        }

        /**
         * Sets the bytes that are held for this connection. Cuts off other connections if that makes room.
         *
         * @return whether there is room and the connection still exists
         */
        boolean hold(long wanted) {
            long added = wanted - octets;
            while (Connections.this.octets + added > mostOctets
                    && makeRoom(other -> other != this && other.octets > 0)) {
                // One more connection was cut off.
            }
            if (!channel.isOpen() || !connections.contains(this) || Connections.this.octets + added > mostOctets) {
                return false;
            }
            Connections.this.octets += added;
            octets = wanted;
            return true;
        }

        /** Ends the connection without an answer. */
        void cutOff() {
            // The connection is removed first, so that makeRoom cannot select it again.
            remove(this);
            if (channel.isOpen()) {
                Connections.this.cutOff(channel);
            }
        }
    }
}
