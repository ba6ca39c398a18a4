// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.time.Duration;

/**
 * Settings of sockets and event loops.
 *
 * @param stagingCapacity octets of a buffer between socket and regions, from 128 KiB to less than
 *     {@link #LARGE_OUTPUT_CAPACITY}; what a loop reads at a time
 * @param outputBuffers buffers that the connections of one loop can have in sockets that are full, further connections
 *     have {@link #SHORT_OUTPUT_CAPACITY} until one is free; and as many in which connections have the beginning of a long
 *     FPDU, those of further ones are copied
 * @param largeOutputBuffers of them, how many have {@link #LARGE_OUTPUT_CAPACITY} instead of {@link #stagingCapacity}
 * @param reassemblyOctets of a loop's buffers into which those are copied, each beyond 4 KiB; the connection that has had its
 *     own for the longest time gives way
 * @param defaultEmss octets of a TCP segment where the operating system does not tell
 * @param lingerTimeout how long a connection whose FIN is acknowledged waits for the peer's while nothing arrives
 * @param stallTimeout how long a peer may acknowledge nothing of what it is sent, or leave an FPDU incomplete, until its
 *     connection or association is aborted; and while all output buffers are in use and other connections want one, how long
 *     it may take to read one
 * @param keepAlive how long a peer may be silent before TCP probes whether it is still there, and half of how long it may
 *     leave data unacknowledged, whole seconds, 0 for never
 * @param congestionControl name of that of TCP, see {@link CongestionControl}
 * @param busyPoll the longest time that a loop without work polls before it sleeps
 */
public record NetSettings(
        int stagingCapacity,
        int outputBuffers,
        int largeOutputBuffers,
        long reassemblyOctets,
        int defaultEmss,
        Duration lingerTimeout,
        Duration stallTimeout,
        Duration keepAlive,
        String congestionControl,
        Duration busyPoll) {

    /** Smallest {@link #stagingCapacity}: it holds the largest FPDU with Markers and what else was read with it. */
    public static final int MIN_STAGING_CAPACITY = 128 * 1024;

    /**
     * 768 KiB of payload, and room for the headers, Markers and CRCs of long FPDUs around it. What a socket gets at a time is
     * what the kernel has in its own memory before the peer takes some of it out. The less that is, the sooner the kernel
     * writes to the same memory again, while it still is in the caches of the peer's processor, which costs most where these
     * are far away; the more, the less of it and of this buffer is still in the caches of this processor.
     */
    public static final int LARGE_OUTPUT_CAPACITY = (768 + 16) * 1024;

    /** Octets of a buffer for a connection while there is none of the limited number for it. */
    static final int SHORT_OUTPUT_CAPACITY = 4 * 1024;

    /** The longest time of polling where a loop may poll: several times what sleeping and waking costs in a virtual machine. */
    public static final Duration BUSY_POLL = Duration.ofNanos(300_000);

    public NetSettings {
        if (stagingCapacity < MIN_STAGING_CAPACITY || stagingCapacity >= LARGE_OUTPUT_CAPACITY) {
            throw new IllegalArgumentException(
                    "staging buffers cannot have " + stagingCapacity + " octets: at least " + MIN_STAGING_CAPACITY
                            + " are needed for the largest FPDU, and less than " + LARGE_OUTPUT_CAPACITY);
        }
    }

    /**
     * 256 KiB, 128 buffers of which 8 are large, 32 MiB, 1448 octets, 5 s, 60 s, 60 s,
     * {@link CongestionControl#AUTOMATIC}, and {@link #defaultBusyPoll()}.
     */
    public static NetSettings defaults() {
        return new NetSettings(
                256 * 1024,
                128,
                8,
                32L << 20,
                1448,
                Duration.ofSeconds(5),
                Duration.ofSeconds(60),
                Duration.ofSeconds(60),
                CongestionControl.AUTOMATIC,
                defaultBusyPoll());
    }

    /**
     * {@link #BUSY_POLL}, or nothing where polling would keep the peer off the only processor, or use up a quota of less than
     * a processor's time.
     */
    public static Duration defaultBusyPoll() {
        return Processors.mayKeepOneBusy() ? BUSY_POLL : Duration.ZERO;
    }

    public NetSettings withStagingCapacity(int octets) {
        return new NetSettings(
                octets,
                outputBuffers,
                largeOutputBuffers,
                reassemblyOctets,
                defaultEmss,
                lingerTimeout,
                stallTimeout,
                keepAlive,
                congestionControl,
                busyPoll);
    }

    /** The settings with other numbers of output buffers, of all and of the large ones among them. */
    public NetSettings withOutputBuffers(int buffers, int large) {
        return new NetSettings(
                stagingCapacity,
                buffers,
                large,
                reassemblyOctets,
                defaultEmss,
                lingerTimeout,
                stallTimeout,
                keepAlive,
                congestionControl,
                busyPoll);
    }

    public NetSettings withReassemblyOctets(long octets) {
        return new NetSettings(
                stagingCapacity,
                outputBuffers,
                largeOutputBuffers,
                octets,
                defaultEmss,
                lingerTimeout,
                stallTimeout,
                keepAlive,
                congestionControl,
                busyPoll);
    }

    public NetSettings withLingerTimeout(Duration timeout) {
        return new NetSettings(
                stagingCapacity,
                outputBuffers,
                largeOutputBuffers,
                reassemblyOctets,
                defaultEmss,
                timeout,
                stallTimeout,
                keepAlive,
                congestionControl,
                busyPoll);
    }

    public NetSettings withStallTimeout(Duration timeout) {
        return new NetSettings(
                stagingCapacity,
                outputBuffers,
                largeOutputBuffers,
                reassemblyOctets,
                defaultEmss,
                lingerTimeout,
                timeout,
                keepAlive,
                congestionControl,
                busyPoll);
    }

    public NetSettings withKeepAlive(Duration silence) {
        return new NetSettings(
                stagingCapacity,
                outputBuffers,
                largeOutputBuffers,
                reassemblyOctets,
                defaultEmss,
                lingerTimeout,
                stallTimeout,
                silence,
                congestionControl,
                busyPoll);
    }

    public NetSettings withCongestionControl(String name) {
        return new NetSettings(
                stagingCapacity,
                outputBuffers,
                largeOutputBuffers,
                reassemblyOctets,
                defaultEmss,
                lingerTimeout,
                stallTimeout,
                keepAlive,
                name,
                busyPoll);
    }

    public NetSettings withBusyPoll(Duration time) {
        return new NetSettings(
                stagingCapacity,
                outputBuffers,
                largeOutputBuffers,
                reassemblyOctets,
                defaultEmss,
                lingerTimeout,
                stallTimeout,
                keepAlive,
                congestionControl,
                time);
    }
}
