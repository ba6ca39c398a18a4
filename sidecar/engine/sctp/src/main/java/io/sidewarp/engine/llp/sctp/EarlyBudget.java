// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import org.jspecify.annotations.Nullable;

/**
 * Bytes that early chunks may hold (RFC 5043 section 10), in one association and in all associations of a device.
 * Sessions without the consent of a Consumer of this side use a separate pool, so that strangers take nothing from
 * other peers. The budget also limits sessions that did not open and still keep their streams. All of it belongs to one
 * thread.
 */
public final class EarlyBudget {

    /** Divisor of the device's bytes that gives the bytes of all strangers together. */
    private static final int STRANGERS_PART = 8;

    /**
     * Maximum number of sessions in all associations that did not open and whose streams are not free. Only a peer that
     * does not acknowledge the end of its sessions has many of them.
     */
    private static final int UNOPENED = 8192;

    /** Amount that one kind of sessions may hold, in bytes or in sessions. */
    static final class Pool {

        private final @Nullable Pool whole;
        private final int octets;
        private int held;

        private Pool(@Nullable Pool whole, int octets) {
            this.whole = whole;
            this.octets = octets;
        }

        /**
         * Takes an amount.
         *
         * @return limit that is exceeded, or null when the amount was taken
         */
        @Nullable
        String take(int wanted) {
            if (wanted > octets - held) {
                return "more than " + octets + " bytes of chunks that wait";
            }
            Pool all = whole;
            if (all != null) {
                // Fair share: an association may hold no more than it leaves to the others, so that no association
                // holds all.
                if (held + wanted > all.octets - all.held - wanted) {
                    return "more bytes of chunks that wait than the fair share of this association, of " + all.octets;
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

    /** Creates the budget of all associations of a device. */
    public static EarlyBudget ofDevice(AdaptationSettings settings) {
        int octets = settings.totalReorderOctets();
        return new EarlyBudget(
                new Pool(null, octets), new Pool(null, octets / STRANGERS_PART), new Pool(null, UNOPENED));
    }

    /** Creates the budget of one association. */
    EarlyBudget ofAssociation(AdaptationSettings settings) {
        return new EarlyBudget(
                new Pool(agreed, settings.reorderOctets()),
                new Pool(strange, settings.strangersOctets()),
                new Pool(unopened, UNOPENED));
    }

    /** Counts a session that did not open. Returns false when too many are counted. */
    boolean takeUnopened() {
        return unopened.take(1) == null;
    }

    /** Reports that the stream of a session that did not open is free or gone. */
    void giveBackUnopened() {
        unopened.giveBack(1);
    }

    /** @param consented whether the Consumer of this side has begun or accepted the session */
    Pool pool(boolean consented) {
        return consented ? agreed : strange;
    }

    /** Bytes that are held at present. */
    int held() {
        return agreed.held + strange.held;
    }
}
