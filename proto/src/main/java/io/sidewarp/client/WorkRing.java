// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.RingProducer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A send ring or receive ring, and what is known of its outstanding work. All methods but {@link #lock}, {@link #unlock} and
 * {@link #seemsToHaveRoom} need the lock. Posting makes no objects.
 *
 * <p>The tag of an entry tells what its completion is: see the constants.
 */
final class WorkRing {

    /** The id is a place of {@link RingSlots}. */
    static final int TAG_SLOT = 1;

    /** The request completes only when it fails. */
    static final int TAG_UNSIGNALED = 2;

    /** The queue itself posted the request. */
    static final int TAG_MARKER = 4;

    private final ReentrantLock lock = new ReentrantLock();
    private final long ring;
    private final RingProducer producer;
    private final RingSlots slots;
    private final TrafficCache traffic;

    /** Connections whose last request is unsignaled. */
    private final LongSet unsignaled = new LongSet();

    /** Requests with a completion, since the beginning. */
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

    /** Returns whether it is worth while to take the lock and look for room. Without the lock. */
    boolean seemsToHaveRoom(int blocks) {
        try {
            return producer.seemsToHaveRoom(blocks);
        } catch (IllegalStateException e) {
            // Unmapped meanwhile.
            return true;
        }
    }

    /** Asks to be woken for room; returns whether there is room already. */
    boolean armForRoom(int blocks) {
        producer.armForRoom();
        return producer.hasRoom(blocks);
    }

    /** Returns whether the sidecar sleeps; the caller then has to wake it. */
    boolean takeSleeper() {
        return producer.takeSleeper(true);
    }

    /** Posts a request; there must be room. */
    void post(
            WorkImage image,
            long connection,
            @Nullable Confirmation confirmation,
            long id,
            @Nullable CompletableFuture<WorkCompletion> future) {
        long ticket = confirmation == null ? 0 : confirmation.posted(image.isData());
        boolean answered = confirmation != null && image.isAnswered();
        long sentId = id;
        int tag = 0;
        if (future != null || answered) {
            sentId = slots.take(id, future, answered ? confirmation : null, ticket);
            tag = TAG_SLOT;
        }
        if (image.isUnsignaled()) {
            unsignaled.add(connection);
            publish(image, connection, sentId, tag | TAG_UNSIGNALED);
            return;
        }
        if (!unsignaled.isEmpty() && !image.isReceive()) {
            unsignaled.remove(connection);
        }
        signaled++;
        publish(image, connection, sentId, tag);
    }

    private void publish(WorkImage image, long connection, long id, int tag) {
        if (connection != 0) {
            traffic.of(connection).posted();
        }
        producer.publish(image.words(), image.blocks(), id, tag);
    }

    /**
     * Posts a request of the queue behind the last one of each connection where it is unsignaled, as far as there is room: its
     * completion tells that those before it are complete.
     */
    void postMarkers() {
        unsignaled.forEach(connection -> {
            WorkImage marker = WorkImage.marker(connection);
            if (producer.hasRoom(marker.blocks())) {
                unsignaled.remove(connection);
                signaled++;
                publish(marker, connection, 0, TAG_MARKER);
            }
        });
    }

    /** The last request of a connection completed ahead of its turn: it tells nothing about those before it. */
    void completedAhead(long connection) {
        unsignaled.add(connection);
    }

    /** All work of a connection is complete. */
    void connectionClosed(long connection) {
        unsignaled.remove(connection);
    }

    boolean hasUnsignaled() {
        return !unsignaled.isEmpty();
    }

    long signaled() {
        return signaled;
    }

    /** Takes back what was counted as posted and did not come to the sidecar. */
    void losePosts() {
        LongConsumer lost = connection -> traffic.of(connection).lost();
        producer.forEachUnconsumed(lost);
    }
}
