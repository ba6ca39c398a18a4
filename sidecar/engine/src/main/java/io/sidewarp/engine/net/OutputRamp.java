// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

/**
 * How much the socket of a connection gets at a time where segments are not aligned, as on loopback. What it gets
 * first, when nothing was under way, is less than what comes behind: the peer, which waits, has it sooner, and works
 * while more is made. Belongs to one event loop.
 */
final class OutputRamp {

    /** Octets of the first buffer at most; 128 KiB were no better. */
    static final int FIRST = 256 * 1024;

    private static final int GROWTH = 2;

    private int octets = FIRST;

    /** Octets of the next buffer at most. */
    int octets() {
        return octets;
    }

    /** @param more whether the buffer had no room for all that there was to send */
    void onProduced(boolean more) {
        octets = more ? Math.min(GROWTH * octets, NetSettings.LARGE_OUTPUT_CAPACITY) : FIRST;
    }
}
