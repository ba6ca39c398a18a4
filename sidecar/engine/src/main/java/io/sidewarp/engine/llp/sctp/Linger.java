// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

/**
 * The time that a session waits for what its peer owes it: an Initiate that later chunks have overtaken, or the last
 * word when it has this side's ({@link AdaptationSettings#lingerTimeout}). RFC 5043 sets none.
 */
final class Linger {

    private static final long NEVER = Long.MAX_VALUE;

    private final DdpAssociation association;
    private long end = NEVER;
    private long heard;

    Linger(DdpAssociation association) {
        this.association = association;
    }

    boolean hasBegun() {
        return end != NEVER;
    }

    void begin() {
        heard = association.nanoTime();
        endAt(heard + timeout());
    }

    void cancel() {
        end = NEVER;
    }

    /** Has it be over at the next opportunity. */
    void cutShort() {
        endAt(association.nanoTime());
    }

    /** The peer has sent something. */
    void onHeard() {
        heard = association.nanoTime();
    }

    /**
     * Whether it has come to its end, which is told once.
     *
     * @param prolonged whether it counts from what the peer sent last
     */
    boolean isOver(long now, boolean prolonged) {
        if (end == NEVER) {
            return false;
        }
        if (prolonged && heard + timeout() - end > 0) {
            end = heard + timeout();
        }
        if (now - end < 0) {
            association.wakeAt(end);
            return false;
        }
        end = NEVER;
        return true;
    }

    private void endAt(long nanos) {
        end = nanos;
        association.wakeAt(nanos);
    }

    private long timeout() {
        return association.settings().lingerTimeout().toNanos();
    }
}
