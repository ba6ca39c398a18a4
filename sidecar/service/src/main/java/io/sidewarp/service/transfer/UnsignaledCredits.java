// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;
import java.util.Iterator;

/**
 * Credits of one Queue call that unsignaled work holds as its caller counts them (WorkRequest.unsignaled): they come back
 * with a later completion of the same connection's send work, or, once the connection has ended, of any work. Counts as if
 * each completion that is due had gone out, so it is exact while none is due. Allocates nothing per work request. Confined
 * to the session's thread.
 */
final class UnsignaledCredits {

    /** The answer for unsignaled work that would take the last credit while no completion is due. */
    static final Refusal LAST =
            Refusal.invalid("the work request would take the last credit of the Queue call, and unsignaled work and"
                    + " receives have the others: no completion may bring one back. Post it with unsignaled = false,"
                    + " and signal at least one of every N requests with N credits");

    private final LongObjectHashMap<Held> held = new LongObjectHashMap<>();
    private int total;
    /** Number of connections that had ended at the last look for them. */
    private long endings;

    /** Credits of one connection's unsignaled work. */
    private static final class Held {
        private int credits;
    }

    /** All credits that unsignaled work holds. */
    int total() {
        return total;
    }

    /** Unsignaled work was posted. */
    void posted(long connection, ConnectionLookup connections) {
        Held of = held.get(connection);
        if (of == null) {
            of = new Held();
            // A call may live longer than many connections.
            forgetEnded(connections, false);
            held.put(connection, of);
        }
        of.credits++;
        total++;
    }

    /** Work came that gets a completion. */
    void completes(ConnectionLookup connections) {
        if (total > 0) {
            forgetEnded(connections, true);
        }
    }

    /** Work came that gets a completion, in turn with the send work of the connection. */
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
