// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.util.concurrent.atomic.LongAdder;

/** Counters of an endpoint, written by its loop, read by any thread. */
final class UdpCounters {

    final LongAdder receivedPackets = new LongAdder();
    final LongAdder sentPackets = new LongAdder();
    final LongAdder malformed = new LongAdder();
    final LongAdder badChecksum = new LongAdder();
    final LongAdder outOfTheBlue = new LongAdder();
    final LongAdder portMoves = new LongAdder();
    final LongAdder halfOpenEvicted = new LongAdder();
    final LongAdder halfOpenExpired = new LongAdder();
    final LongAdder refused = new LongAdder();
    final LongAdder outputDropped = new LongAdder();

    SctpCounters snapshot() {
        return new SctpCounters(
                receivedPackets.sum(),
                sentPackets.sum(),
                malformed.sum(),
                badChecksum.sum(),
                outOfTheBlue.sum(),
                portMoves.sum(),
                halfOpenEvicted.sum(),
                halfOpenExpired.sum(),
                refused.sum(),
                outputDropped.sum());
    }
}
