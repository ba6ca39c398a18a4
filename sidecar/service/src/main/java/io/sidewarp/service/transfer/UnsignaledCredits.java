// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;
import java.util.Iterator;

/**
 * Credits of one Queue call that unsignaled work holds in the count of its caller (WorkRequest.unsignaled). A later
 * completion of the same connection's send work returns them. Once the connection has ended, a completion of any work
 * returns them. The count assumes that each due completion has been sent, so it is exact while none is due. Allocates
 * nothing per work request. Confined to the session's thread.
 */
final class UnsignaledCredits {

    /** Refusal of unsignaled work that would take the last credit while no completion is due. */
    static final Refusal LAST =
            Refusal.invalid("the work request would take the last credit of the Queue call, and unsignaled work and"
                    + " receives have the others: no completion may bring one back. Post it with unsignaled = false,"
                    + " and signal at least one of every N requests with N credits");

    private final LongObjectHashMap<Held> held = new LongObjectHashMap<>();
    private int total;
    /** Number of ended connections at the last check. */
    private long endings;

    /** Credits of one connection's unsignaled work. */
    private static final class Held {
        private int credits;
    }

    /** Returns all credits that unsignaled work holds. */
    int total() {
        return total;
    }

    /** Counts unsignaled work that was posted. */
    void posted(long connection, ConnectionLookup connections) {
        Held of = held.get(connection);
        if (of == null) {
            of = new Held();
            // Removes entries of ended connections, because a call may outlive many connections.
            forgetEnded(connections, false);
            held.put(connection, of);
        }
        of.credits++;
        total++;
    }

    /** Counts work that gets a completion. */
    void completes(ConnectionLookup connections) {
        if (total > 0) {
            forgetEnded(connections, true);
        }
    }

    /** Counts work that gets a completion in order with the send work of the connection. */
    void completesInTurn(long connection) {
        Held of = total > 0 ? held.get(connection) : null;
        if (of != null) {
            total -= of.credits;
            of.credits = 0;
        }
    }

    private void forgetEnded(ConnectionLookup connections, boolean givingBack) {
        if (endings == connections.endings()) {
            return;
        }
        boolean all = true;
        for (Iterator<LongObjectMap.PrimitiveEntry<Held>> entries =
                        held.entries().iterator();
                entries.hasNext(); ) {
            LongObjectMap.PrimitiveEntry<Held> entry = entries.next();
            int credits = entry.value().credits;
            if (connections.find(entry.key()) != null) {
                continue;
            }
            if (credits == 0 || givingBack) {
                total -= credits;
                entries.remove();
            } else {
                all = false;
            }
        }
        if (all) {
            endings = connections.endings();
        }
    }
}
