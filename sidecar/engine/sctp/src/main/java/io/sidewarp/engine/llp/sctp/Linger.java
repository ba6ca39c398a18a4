// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

/**
 * Time that a session waits for its peer. It waits for an Initiate that later chunks have overtaken, or for the last
 * message after the peer has this side's last message. {@link AdaptationSettings#lingerTimeout} sets the time. RFC 5043
 * sets none.
 */
final class Linger {

    private static final long NEVER = Long.MAX_VALUE;

    private final DdpAssociation association;
    private long end = NEVER;
    private long heard;

    Linger(DdpAssociation association) {
        this.association = association;
    }

    void begin() {
        heard = association.nanoTime();
        endAt(heard + timeout());
    }

    /** Begins unless the wait has begun. */
    void beginOnce() {
        if (end == NEVER) {
            begin();
        }
    }

    void cancel() {
        end = NEVER;
    }

    /** Ends the wait at the next opportunity. */
    void cutShort() {
        endAt(association.nanoTime());
    }

    /** Records that the peer has sent a chunk. */
    void onHeard() {
        heard = association.nanoTime();
    }

    /**
     * Returns whether the wait has ended. Returns true only once.
     *
     * @param prolonged whether the time counts from the last chunk of the peer
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
