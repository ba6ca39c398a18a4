// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.rdmap.CompletionStatus;
import io.sidewarp.engine.verbs.WorkCompletion;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what a completion of the device belongs to. A work request carries the number of its queue, and which slot there
 * it has; one of a shared receive queue is also told with the device's number of the queue pair.
 */
final class CompletionRoutes {

    /** Number of a queue pair that is gone. */
    static final long GONE = 0;

    /** Slots, of a queue's work, in the numbers that completions carry. Above are the queue's number and its kind. */
    private static final int SLOT_MASK = 0x7FFFFFFF;

    private static final long RECEIVE_FLAG = 1L << 31;

    /** A queue pair. */
    interface Owner {

        long number();

        PostedWork sends();

        PostedWork receives();

        WorkCounters work();

        /** No completion of the device can be of it. */
        boolean isGone();
    }

    /** Where a completion was found, and where it goes. Its lock is held. */
    interface Outlet {

        /** One that waits to be written by {@link #deliver}. */
        WorkCompletion scratch();

        void deliver();
    }

    private final Map<Long, Owner> owners = new ConcurrentHashMap<>();
    private final Map<Integer, Owner> byQpNumber = new ConcurrentHashMap<>();
    private final Map<Long, PostedWork> sharedReceives = new ConcurrentHashMap<>();
    /** Most completions are of the queue pair that the one before was of. */
    private volatile @Nullable Owner last;

    static long sendTag(long number) {
        return number << Integer.SIZE;
    }

    static long receiveTag(long number) {
        return number << Integer.SIZE | RECEIVE_FLAG;
    }

    /** @param qpNumber the device's number of the queue pair */
    void add(Owner owner, int qpNumber) {
        owners.put(owner.number(), owner);
        byQpNumber.put(qpNumber, owner);
    }

    /** Its own work was told. Receives of a shared queue may still be. */
    void end(Owner owner) {
        owners.remove(owner.number());
    }

    /** The device does not have it any more, so that its number may be another one's. */
    void remove(Owner owner, int qpNumber) {
        byQpNumber.remove(qpNumber, owner);
    }

    void addShared(long number, PostedWork receives) {
        sharedReceives.put(number, receives);
    }

    void removeShared(long number) {
        sharedReceives.remove(number);
    }

    /**
     * Delivers what can be told now that the device has completed some work. A receive of a shared queue is told also when its
     * queue pair is gone; then with {@link #GONE}.
     *
     * @param invalidated the STag that the peer invalidated, or {@link PostedWork#NOT_INVALIDATED}
     */
    void complete(long workId, int qpNumber, CompletionStatus status, long octets, long invalidated, Outlet outlet) {
        long number = workId >>> Integer.SIZE;
        int slot = (int) workId & SLOT_MASK;
        boolean receive = (workId & RECEIVE_FLAG) != 0;
        PostedWork shared = receive ? sharedReceives.get(number) : null;
        if (shared != null) {
            Owner owner = byQpNumber.get(qpNumber);
            shared.complete(slot, status, octets, invalidated);
            if (shared.take(slot, owner == null ? GONE : owner.number(), outlet.scratch())) {
                if (owner != null) {
                    owner.work().count(outlet.scratch());
                }
                outlet.deliver();
            }
            return;
        }
        Owner owner = byNumber(number);
        if (owner == null) {
            // Completions of a queue pair that has ended were told then.
            return;
        }
        PostedWork work = receive ? owner.receives() : owner.sends();
        work.complete(slot, status, octets, invalidated);
        while (work.next(number, outlet.scratch())) {
            owner.work().count(outlet.scratch());
            outlet.deliver();
        }
    }

    private @Nullable Owner byNumber(long number) {
        Owner owner = last;
        if (owner == null || owner.number() != number || owner.isGone()) {
            owner = owners.get(number);
            last = owner;
        }
        return owner;
    }
}
