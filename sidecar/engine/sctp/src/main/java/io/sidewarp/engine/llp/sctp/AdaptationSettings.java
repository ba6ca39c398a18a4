// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import java.time.Duration;

/**
 * Limits of the DDP adaptation.
 *
 * @param reorderOctets most bytes of early chunks in one association. An early chunk waits for an earlier chunk of its
 *     session
 * @param totalReorderOctets most bytes of early chunks in all associations of a device. The fair share of an
 *     association is at most the bytes that it leaves to the others
 * @param strangersOctets most bytes of early chunks of one association in sessions that no Consumer of this side has
 *     begun or accepted. A peer has little to send there. All associations together have an eighth of
 *     {@code totalReorderOctets} for such sessions
 * @param reorderDistance most chunks by which a DDP-SSN may be ahead of the next expected DDP-SSN (RFC 5043 section
 *     10), below 32768
 * @param earlySessions most sessions of one association that have early chunks but no Initiate yet
 * @param unacknowledged most chunks that are sent without an acknowledgement, at most 32767 (section 10)
 * @param lingerTimeout time that a session waits for a silent peer after its Terminate is acknowledged. A session with
 *     early chunks waits as long for its Initiate
 */
public record AdaptationSettings(
        int reorderOctets,
        int totalReorderOctets,
        int strangersOctets,
        int reorderDistance,
        int earlySessions,
        int unacknowledged,
        Duration lingerTimeout) {

    /** Most chunks that may be in flight: half of the values of a DDP-SSN, less one. */
    public static final int MAX_UNACKNOWLEDGED = ChunkFlyweight.SSN_MODULUS / 2 - 1;

    public AdaptationSettings {
        requireNotNegative("reorderOctets", reorderOctets);
        requireNotNegative("totalReorderOctets", totalReorderOctets);
        requireNotNegative("strangersOctets", strangersOctets);
        requireNotNegative("earlySessions", earlySessions);
        if (lingerTimeout.isNegative()) {
            throw new IllegalArgumentException("lingerTimeout " + lingerTimeout + " is negative");
        }
        requireNumberOfChunks("reorderDistance", reorderDistance);
        requireNumberOfChunks("unacknowledged", unacknowledged);
    }

    private static void requireNotNegative(String name, int value) {
        if (value < 0) {
            throw new IllegalArgumentException(name + " " + value + " is negative");
        }
    }

    private static void requireNumberOfChunks(String name, int value) {
        if (value < 1 || value > MAX_UNACKNOWLEDGED) {
            throw new IllegalArgumentException(name + " " + value + " is not in 1.." + MAX_UNACKNOWLEDGED);
        }
    }

    /** Returns 16 MiB, 32 MiB, 128 KiB, 32767 chunks, 64 sessions, 32767 chunks, 5 s. */
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
