// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.RingProducer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A send ring or receive ring, and the state of its outstanding work. All methods except {@link #lock}, {@link #unlock}
 * and {@link #seemsToHaveRoom} need the lock. Posting allocates nothing.
 *
 * <p>The tag of an entry describes its completion: see the constants.
 */
final class WorkRing {

    /** Tag of a request whose id is a place of {@link RingSlots}. */
    static final int TAG_SLOT = 1;

    /** Tag of a request that completes only if it fails. */
    static final int TAG_UNSIGNALED = 2;

    /** Tag of a request that the queue itself posted. */
    static final int TAG_MARKER = 4;

    private final ReentrantLock lock = new ReentrantLock();
    private final long ring;
    private final RingProducer producer;
    private final RingSlots slots;
    private final TrafficCache traffic;

    /** Connections whose last request is unsignaled. */
    private final LongSet unsignaled = new LongSet();

    /** Number of requests with a completion, since the beginning. */
    private long signaled;

    WorkRing(long ring, RingProducer producer, RingSlots slots, TrafficCache traffic) {
        this.ring = ring;
        this.producer = producer;
        this.slots = slots;
        this.traffic = traffic;
    }

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    long ring() {
        return ring;
    }

    int blocks() {
        return producer.blocks();
    }

    int freeBlocks() {
        return producer.blocks() - producer.refresh();
    }

    boolean hasRoom(int blocks) {
        return producer.hasRoom(blocks);
    }

    /** Returns whether the ring may have room, so that taking the lock is worthwhile. Does not need the lock. */
    boolean seemsToHaveRoom(int blocks) {
        try {
            return producer.seemsToHaveRoom(blocks);
        } catch (IllegalStateException e) {
            // The ring was unmapped meanwhile.
            return true;
        }
    }

    /** Asks the sidecar for a wake-up when there is room. Returns whether there is room already. */
    boolean armForRoom(int blocks) {
        producer.armForRoom();
        return producer.hasRoom(blocks);
    }

    /** Returns whether the sidecar sleeps; if so, the caller must wake it. */
    boolean takeSleeper() {
        return producer.takeSleeper(true);
    }

    /** Posts a request; there must be room. */
    void post(WorkRequest request, long id, @Nullable CompletableFuture<WorkCompletion> future) {
        Confirmation confirmation = request.confirmation();
        long connection = request.connection();
        boolean silent = request.isUnsignaled() && !request.isReceive();
        long ticket = confirmation == null ? 0 : confirmation.posted(request.isData());
        boolean answered = confirmation != null && request.isAnswered() && !silent;
        long sentId = id;
        int tag = 0;
        if (future != null || answered) {
            sentId = slots.take(id, future, answered ? confirmation : null, ticket);
            tag = TAG_SLOT;
        }
        if (silent) {
            unsignaled.add(connection);
            publish(request.image(), connection, sentId, tag | TAG_UNSIGNALED);
            return;
        }
        if (!unsignaled.isEmpty() && !request.isReceive()) {
            unsignaled.remove(connection);
        }
        signaled++;
        publish(request.image(), connection, sentId, tag);
    }

    private void publish(WorkImage image, long connection, long id, int tag) {
        if (connection != 0) {
            traffic.of(connection).posted();
        }
        producer.publish(image.words(), image.blocks(), id, tag);
    }

    /**
     * Posts a marker behind the last request of each connection if that request is unsignaled, as far as there is room.
     * The completion of the marker reports that the earlier requests are complete.
     */
    void postMarkers() {
        unsignaled.forEach(connection -> {
            WorkImage marker = WorkRequest.marker(connection).image();
            if (producer.hasRoom(marker.blocks())) {
                unsignaled.remove(connection);
                signaled++;
                publish(marker, connection, 0, TAG_MARKER);
            }
        });
    }

    /**
     * Records that the last request of a connection completed ahead of its turn, so it says nothing about earlier
     * requests.
     */
    void completedAhead(long connection) {
        unsignaled.add(connection);
    }

    /** Records that all work of a connection is complete. */
    void connectionClosed(long connection) {
        unsignaled.remove(connection);
    }

    boolean hasUnsignaled() {
        return !unsignaled.isEmpty();
    }

    long signaled() {
        return signaled;
    }

    /** Takes back requests that were counted as posted and did not reach the sidecar. */
    void losePosts() {
        LongConsumer lost = connection -> traffic.of(connection).lost();
        producer.forEachUnconsumed(lost);
    }
}
