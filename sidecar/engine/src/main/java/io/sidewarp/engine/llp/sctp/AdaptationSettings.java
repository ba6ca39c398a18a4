// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import java.time.Duration;

/**
 * Bounds of the DDP adaptation.
 *
 * @param reorderOctets bytes of chunks of one association that wait for an earlier chunk of their session
 * @param totalReorderOctets bytes of such chunks of all associations of a device; an association may hold no more of
 *     them than it leaves to the others
 * @param strangersOctets bytes of such chunks of one association whose sessions no Consumer of this side has begun or
 *     accepted; a peer has little to say there. All associations together have an eighth of {@code totalReorderOctets}
 * @param reorderDistance by how many chunks a DDP-SSN may be ahead of the one that is due (RFC 5043 section 10), below
 *     32768
 * @param earlySessions sessions of one association of which later chunks are there, but not the Initiate
 * @param unacknowledged chunks that are sent without an acknowledgement, at most 32767 (section 10)
 * @param lingerTimeout how long a session whose Terminate is acknowledged waits for the peer while nothing arrives, and
 *     one of which later chunks are there for its Initiate
 */
public record AdaptationSettings(
        int reorderOctets,
        int totalReorderOctets,
        int strangersOctets,
        int reorderDistance,
        int earlySessions,
        int unacknowledged,
        Duration lingerTimeout) {

    /** Chunks that may be in flight: half of the values of a DDP-SSN, less one. */
    public static final int MAX_UNACKNOWLEDGED = ChunkFlyweight.SSN_MODULUS / 2 - 1;

    public AdaptationSettings {
        if (reorderOctets < 0) {
            throw new IllegalArgumentException("reorderOctets " + reorderOctets + " is negative");
        }
        if (totalReorderOctets < 0) {
            throw new IllegalArgumentException("totalReorderOctets " + totalReorderOctets + " is negative");
        }
        if (strangersOctets < 0) {
            throw new IllegalArgumentException("strangersOctets " + strangersOctets + " is negative");
        }
        if (earlySessions < 0) {
            throw new IllegalArgumentException("earlySessions " + earlySessions + " is negative");
        }
        if (lingerTimeout.isNegative()) {
            throw new IllegalArgumentException("lingerTimeout " + lingerTimeout + " is negative");
        }
        if (reorderDistance < 1 || reorderDistance > MAX_UNACKNOWLEDGED) {
            throw new IllegalArgumentException(
                    "reorderDistance " + reorderDistance + " is not in 1.." + MAX_UNACKNOWLEDGED);
        }
        if (unacknowledged < 1 || unacknowledged > MAX_UNACKNOWLEDGED) {
            throw new IllegalArgumentException(
                    "unacknowledged " + unacknowledged + " is not in 1.." + MAX_UNACKNOWLEDGED);
        }
    }

    /** 16 MiB, 32 MiB, 128 KiB, 32767 chunks, 64 sessions, 32767 chunks, 5 s. */
    public static AdaptationSettings defaults() {
        return new AdaptationSettings(
                16 * 1024 * 1024,
                32 * 1024 * 1024,
                128 * 1024,
                MAX_UNACKNOWLEDGED,
                64,
                MAX_UNACKNOWLEDGED,
                Duration.ofSeconds(5));
    }
}
