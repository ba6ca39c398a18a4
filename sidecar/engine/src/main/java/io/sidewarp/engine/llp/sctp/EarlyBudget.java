// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import org.jspecify.annotations.Nullable;

/**
 * Bytes that early chunks may hold (RFC 5043 section 10): those of one association, out of what all associations of a
 * device have together. Sessions to which no Consumer of this side has consented draw on a pool of their own, so that
 * strangers take nothing from anybody else; and there may be so many of these sessions that did not open and keep their
 * streams. All of it belongs to one thread.
 */
public final class EarlyBudget {

    /** What strangers have of all associations together is a part of what the others have. */
    private static final int STRANGERS_PART = 8;

    /**
     * Sessions of all associations that did not open, and whose streams are not free. Only peers that do not acknowledge the
     * end of what they begin have many of them.
     */
    private static final int UNOPENED = 8192;

    /** What one kind of sessions may hold: bytes, or sessions themselves. */
    static final class Pool {

        private final @Nullable Pool whole;
        private final int octets;
        private int held;

        private Pool(@Nullable Pool whole, int octets) {
            this.whole = whole;
            this.octets = octets;
        }

        /**
         * Takes bytes.
         *
         * @return which limit is in the way, or null when they were taken
         */
        @Nullable
        String take(int wanted) {
            if (wanted > octets - held) {
                return "more than " + octets + " octets of chunks that wait";
            }
            Pool all = whole;
            if (all != null) {
                // Whoever holds much gives way first, and nobody can hold all.
                if (held + wanted > all.octets - all.held - wanted) {
                    return "more octets of chunks that wait than are left to other associations, of " + all.octets;
                }
                all.held += wanted;
            }
            held += wanted;
            return null;
        }

        void giveBack(int taken) {
            held -= taken;
            if (whole != null) {
                whole.held -= taken;
            }
        }
    }

    private final Pool agreed;
    private final Pool strange;
    private final Pool unopened;

    private EarlyBudget(Pool agreed, Pool strange, Pool unopened) {
        this.agreed = agreed;
        this.strange = strange;
        this.unopened = unopened;
    }

    /** That of all associations of a device. */
    public static EarlyBudget ofDevice(AdaptationSettings settings) {
        int octets = settings.totalReorderOctets();
        return new EarlyBudget(
                new Pool(null, octets), new Pool(null, octets / STRANGERS_PART), new Pool(null, UNOPENED));
    }

    /** That of one association. */
    EarlyBudget ofAssociation(AdaptationSettings settings) {
        return new EarlyBudget(
                new Pool(agreed, settings.reorderOctets()),
                new Pool(strange, settings.strangersOctets()),
                new Pool(unopened, UNOPENED));
    }

    /** Counts a session that did not open; false when there are too many. */
    boolean takeUnopened() {
        return unopened.take(1) == null;
    }

    /** The stream of such a session is free, or gone. */
    void giveBackUnopened() {
        unopened.giveBack(1);
    }

    /** @param consented whether the Consumer of this side has begun or accepted the session */
    Pool pool(boolean consented) {
        return consented ? agreed : strange;
    }

    /** Bytes that are held now. */
    int held() {
        return agreed.held + strange.held;
    }
}
