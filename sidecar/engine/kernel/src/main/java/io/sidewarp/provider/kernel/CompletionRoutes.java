// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the queue to which a completion of the device belongs. The ID of a work request holds the number of its queue
 * and its slot there. For a shared receive queue, the completion also carries the device's number of the queue pair.
 */
final class CompletionRoutes {

    /** Number reported for a queue pair that no longer exists. */
    static final long GONE = 0;

    /** Mask of the slot in the ID of a work request. The bits above hold the queue's kind and its number. */
    private static final int SLOT_MASK = 0x7FFFFFFF;

    private static final long RECEIVE_FLAG = 1L << 31;

    /** A queue pair that completions belong to. */
    interface Owner {

        long number();

        DeviceWorkQueue sends();

        DeviceWorkQueue receives();

        WorkCounters work();

        /** Returns whether the device can report no more completions of this queue pair. */
        boolean isGone();
    }

    /** The completion queue in which a completion was found. The caller holds its lock. */
    interface Outlet {

        /** Returns the entry to fill before {@link #deliver}. */
        Cqe scratch();

        void deliver();
    }

    private final Map<Long, Owner> owners = new ConcurrentHashMap<>();
    private final Map<Integer, Owner> byQpNumber = new ConcurrentHashMap<>();
    private final Map<Long, DeviceWorkQueue> sharedReceives = new ConcurrentHashMap<>();
    /** Owner of the previous completion. Most completions belong to the same queue pair as the one before. */
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

    /**
     * Removes a queue pair whose own work is completely reported. Its receives of a shared queue may still complete.
     */
    void end(Owner owner) {
        owners.remove(owner.number());
    }

    /** Removes the device's number of a queue pair. The device may now give the number to another queue pair. */
    void remove(Owner owner, int qpNumber) {
        byQpNumber.remove(qpNumber, owner);
    }

    void addShared(long number, DeviceWorkQueue receives) {
        sharedReceives.put(number, receives);
    }

    void removeShared(long number) {
        sharedReceives.remove(number);
    }

    /**
     * Records a completion of the device, and delivers all completions that are now due. A receive of a shared queue is
     * delivered even if its queue pair no longer exists, with the number {@link #GONE}.
     *
     * @param invalidated the STag that the peer invalidated, or {@link DeviceWorkQueue#NOT_INVALIDATED}
     */
    void complete(long workId, int qpNumber, CqeStatus status, long octets, long invalidated, Outlet outlet) {
        long number = workId >>> Integer.SIZE;
        int slot = (int) workId & SLOT_MASK;
        boolean receive = (workId & RECEIVE_FLAG) != 0;
        DeviceWorkQueue shared = receive ? sharedReceives.get(number) : null;
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
            // The queue pair has ended. Its completions were delivered at that time.
            return;
        }
        DeviceWorkQueue work = receive ? owner.receives() : owner.sends();
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
