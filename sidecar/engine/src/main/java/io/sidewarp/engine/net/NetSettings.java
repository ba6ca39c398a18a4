// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.time.Duration;

/**
 * Settings of sockets and event loops.
 *
 * @param stagingCapacity octets of a buffer between socket and regions, at least 256 KiB; what a loop reads at a time, and
 *     twice what it writes ({@link #outputCapacity})
 * @param outputBuffers buffers that the connections of one loop can have in sockets that are full, further connections
 *     wait for one; and as many in which connections have the beginning of a long FPDU, those of further ones are copied
 * @param defaultEmss octets of a TCP segment where the operating system does not tell
 * @param lingerTimeout how long a connection whose output is closed waits for the peer while nothing arrives
 * @param connectTimeout for the TCP connection
 * @param stallTimeout how long a peer may leave its TCP window shut, or an FPDU incomplete, before its connection is
 *     aborted
 * @param keepAlive how long a peer may be silent before TCP probes whether it is still there, whole seconds, 0 for never
 * @param busyPoll the longest time that a loop without work polls before it sleeps
 */
public record NetSettings(
        int stagingCapacity,
        int outputBuffers,
        int defaultEmss,
        Duration lingerTimeout,
        Duration connectTimeout,
        Duration stallTimeout,
        Duration keepAlive,
        Duration busyPoll) {

    /** Smallest {@link #stagingCapacity}: half of it holds the largest FPDU with Markers. */
    public static final int MIN_STAGING_CAPACITY = 256 * 1024;

    public NetSettings {
        if (stagingCapacity < MIN_STAGING_CAPACITY) {
            throw new IllegalArgumentException("staging buffers of " + stagingCapacity
                    + " octets are too small: at least " + MIN_STAGING_CAPACITY + " are needed for the largest FPDU");
        }
    }

    /** 256 KiB, 128 buffers, 1448 octets, 5 s, 10 s, 60 s, 60 s, and {@link #defaultBusyPoll()}. */
    public static NetSettings defaults() {
        return new NetSettings(
                256 * 1024,
                128,
                1448,
                Duration.ofSeconds(5),
                Duration.ofSeconds(10),
                Duration.ofSeconds(60),
                Duration.ofSeconds(60),
                defaultBusyPoll());
    }

    /**
     * Octets given to a socket at a time. Few, so that they are still in the cache of the processor, and so that the peer
     * has work while the next are made.
     */
    public int outputCapacity() {
        return stagingCapacity / 2;
    }

    /**
     * 300 us, some times what it costs to sleep and to be woken in a virtual machine, or nothing where polling would keep
     * the peer off the only processor.
     */
    public static Duration defaultBusyPoll() {
        return Runtime.getRuntime().availableProcessors() > 1 ? Duration.ofNanos(300_000) : Duration.ZERO;
    }
}
