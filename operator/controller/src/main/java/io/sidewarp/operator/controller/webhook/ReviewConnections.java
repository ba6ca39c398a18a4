// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Connections to the webhook, and the bytes that are held for all of them together: bodies that are incomplete or
 * undecided, and answers that are not read yet.
 *
 * <p>Strangers may reach the port. If there is no room, the connection that has kept the webhook waiting longest is cut
 * off. Idle connections therefore cannot keep out the API server, which sends its review at once. Connections whose
 * review is being decided are not cut off.
 */
final class ReviewConnections {
    private final int mostConnections;
    private final long mostOctets;
    private final Runnable tally;

    /** Connections whose clients must act next, in the order in which their wait began. Guarded by this. */
    private final Set<Connection> waiting = new LinkedHashSet<>();

    private int connections;
    private long octets;
    private volatile boolean ending;

    /** @param tally called for each connection that is cut off */
    ReviewConnections(int mostConnections, long mostOctets, Runnable tally) {
        this.mostConnections = mostConnections;
        this.mostOctets = mostOctets;
        this.tally = tally;
    }

    /** Opens a connection. Empty if there is no room; then its channel is closed. */
    synchronized Optional<Connection> open(Channel channel) {
        if (connections >= mostConnections && !makeRoom(connection -> true)) {
            cutOff(channel);
            return Optional.empty();
        }
        connections++;
        Connection opened = new Connection(channel);
        waiting.add(opened);
        channel.closeFuture().addListener(closed -> remove(opened));
        return Optional.of(opened);
    }

    /** Makes each connection end after its next answer. */
    void endBehindAnswers() {
        ending = true;
    }

    /** Ends connections without a request, after the bytes that they have received are processed. */
    void endWaiting() {
        List<Connection> candidates;
        synchronized (this) {
            candidates = List.copyOf(waiting);
        }
        candidates.forEach(connection -> connection.channel.pipeline().fireUserEventTriggered(ReviewHandler.Event.END));
    }

    /** Waits until there are no connections, or until the time is over. */
    synchronized void awaitEnd(Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        for (long left = patience.toNanos(); connections > 0 && left > 0; left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /**
     * Removes a closed connection. A review that is being decided still takes its memory, even if nobody waits for the
     * answer.
     */
    private synchronized void remove(Connection connection) {
        connection.open = false;
        if (!connection.deciding && !connection.removed) {
            connection.removed = true;
            waiting.remove(connection);
            connections--;
            octets -= connection.octets;
            notifyAll();
        }
    }

    /** Cuts off the matching connection that has kept the webhook waiting longest. Returns whether there was one. */
    private boolean makeRoom(Predicate<Connection> candidate) {
        Iterator<Connection> candidates = waiting.iterator();
        while (candidates.hasNext()) {
            Connection connection = candidates.next();
            if (candidate.test(connection)) {
                connection.cutOff();
                return true;
            }
        }
        return false;
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
        private boolean open = true;
        private boolean deciding;
        private boolean removed;
        private long octets;

        private Connection(Channel channel) {
            this.channel = channel;
        }

        /** Marks that the client must act next. */
        void waitForClient() {
            synchronized (ReviewConnections.this) {
                deciding = false;
                if (open) {
                    waiting.remove(this);
                    waiting.add(this);
                } else {
                    remove(this);
                }
            }
        }

        /** Returns whether another request may follow. */
        boolean goesOn() {
            return !ending;
        }

        /** Marks that the review is being decided. */
        void decide() {
            synchronized (ReviewConnections.this) {
                deciding = true;
                waiting.remove(this);
            }
        }

        /**
         * Sets the bytes that are held for this connection. Cuts off other connections if that makes room.
         *
         * @return whether there is room and the connection still exists
         */
        boolean hold(long wanted) {
            synchronized (ReviewConnections.this) {
                while (ReviewConnections.this.octets - octets + wanted > mostOctets
                        && makeRoom(other -> other != this && other.octets > 0)) {
                    // One more connection was cut off.
                }
                if (!open || ReviewConnections.this.octets - octets + wanted > mostOctets) {
                    return false;
                }
                ReviewConnections.this.octets += wanted - octets;
                octets = wanted;
                return true;
            }
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
