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
 * The connections to the webhook, and the octets that are held for all of them together: of bodies that are not complete or
 * not decided about yet, and of answers that are not read yet.
 *
 * <p>Strangers may reach the port. Where there is no room, who has kept the webhook waiting longest is cut off: connections
 * that are held open do not keep out the API server, whose review comes at once. Those are left alone whose review is
 * decided about.
 */
final class ReviewConnections {
    private final int mostConnections;
    private final long mostOctets;
    private final Runnable tally;

    /** Those whose clients have to do the next step, in the order in which they got to know. Guarded by this. */
    private final Set<Connection> waiting = new LinkedHashSet<>();

    private int connections;
    private long octets;
    private volatile boolean ending;

    /** @param tally hears of each that is cut off */
    ReviewConnections(int mostConnections, long mostOctets, Runnable tally) {
        this.mostConnections = mostConnections;
        this.mostOctets = mostOctets;
        this.tally = tally;
    }

    /** A new connection, or empty if there is no room: then its channel is closed. */
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

    /** From now on each connection ends when a request was answered. */
    void endBehindAnswers() {
        ending = true;
    }

    /** Ends those that have not begun a request, once the octets that came were looked at. */
    void endWaiting() {
        List<Connection> candidates;
        synchronized (this) {
            candidates = List.copyOf(waiting);
        }
        candidates.forEach(connection -> connection.channel.pipeline().fireUserEventTriggered(ReviewHandler.Event.END));
    }

    /** Returns when there are no connections any more, or behind that time. */
    synchronized void awaitEnd(Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        for (long left = patience.toNanos(); connections > 0 && left > 0; left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** A review is decided about, and takes its memory, even if nobody waits for the answer any more. */
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

    /** Cuts off who keeps the webhook waiting longest, of some; gives whether there was one. */
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

    /** At once: whoever does not read would hold up a polite end of TLS. */
    private void cutOff(Channel channel) {
        tally.run();
        ChannelHandlerContext first = channel.pipeline().firstContext();
        if (first == null) {
            channel.close();
        } else {
            first.close();
        }
    }

    /** One connection, and what is held for it. */
    final class Connection {
        private final Channel channel;
        private boolean open = true;
        private boolean deciding;
        private boolean removed;
        private long octets;

        private Connection(Channel channel) {
            this.channel = channel;
        }

        /** From now on, its client has to do the next step. */
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

        /** Whether another request may come. */
        boolean goesOn() {
            return !ending;
        }

        /** From now on, a decision is the next step. */
        void decide() {
            synchronized (ReviewConnections.this) {
                deciding = true;
                waiting.remove(this);
            }
        }

        /**
         * So many octets shall be held for it, all in all. Cuts off others where that makes room.
         *
         * @return whether there is room, and the connection is still there
         */
        boolean hold(long wanted) {
            synchronized (ReviewConnections.this) {
                while (ReviewConnections.this.octets - octets + wanted > mostOctets
                        && makeRoom(other -> other != this && other.octets > 0)) {
                    // One more has gone.
                }
                if (!open || ReviewConnections.this.octets - octets + wanted > mostOctets) {
                    return false;
                }
                ReviewConnections.this.octets += wanted - octets;
                octets = wanted;
                return true;
            }
        }

        /** Ends it without a word. */
        void cutOff() {
            // First of all: who makes room must not come upon it again.
            remove(this);
            if (channel.isOpen()) {
                ReviewConnections.this.cutOff(channel);
            }
        }
    }
}
