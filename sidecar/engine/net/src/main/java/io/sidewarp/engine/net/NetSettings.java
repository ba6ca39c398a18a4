// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.time.Duration;

/**
 * Settings of sockets and event loops.
 *
 * @param stagingCapacity bytes of a buffer between socket and regions, from 128 KiB to less than
 *     {@link #LARGE_OUTPUT_CAPACITY}; a loop reads at most this much at a time
 * @param outputBuffers number of buffers that the connections of one loop can have in full sockets. Further connections
 *     use {@link #SHORT_OUTPUT_CAPACITY} until a buffer is free. The same number of buffers can hold the beginning of a
 *     long FPDU; the FPDUs of further connections are copied.
 * @param largeOutputBuffers how many of these buffers have {@link #LARGE_OUTPUT_CAPACITY} instead of
 *     {@link #stagingCapacity}
 * @param reassemblyOctets bytes of all buffers of a loop into which such FPDUs are copied, counting buffers above 4
 *     KiB. Above this limit the connection that has held its buffer for the longest time is ended.
 * @param defaultEmss bytes of a TCP segment where the operating system does not tell
 * @param lingerTimeout how long a connection whose FIN is acknowledged waits for the peer's FIN while nothing arrives
 * @param stallTimeout how long a peer may acknowledge nothing, or leave an FPDU incomplete, before its connection or
 *     association is aborted. While all output buffers are in use and other connections want one, the peer must read
 *     one buffer within this time.
 * @param keepAlive how long a peer may be silent before TCP probes whether it is still there, in whole seconds. A peer
 *     may leave data unacknowledged for twice this time. 0 disables both.
 * @param congestionControl name of TCP's congestion control, see {@link CongestionControl}
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

    /**
     * Smallest {@link #stagingCapacity}. It holds the largest FPDU with Markers, and the other input that was read with
     * it.
     */
    public static final int MIN_STAGING_CAPACITY = 128 * 1024;

    /**
     * Bytes of a large output buffer: 768 KiB of payload, with room for the headers, Markers and CRCs of long FPDUs.
     *
     * <p>The kernel holds one such buffer in its own memory before the peer takes data out. With a smaller size the
     * kernel soon writes to the same memory again, while it is still in the caches of the peer's processor. This
     * matters most where those caches are far away. With a larger size less of this memory and of this buffer is still
     * in the caches of this processor.
     */
    public static final int LARGE_OUTPUT_CAPACITY = (768 + 16) * 1024;

    /** Bytes of a buffer for a connection while none of the limited number is free. */
    static final int SHORT_OUTPUT_CAPACITY = 4 * 1024;

    /**
     * Longest time of polling where a loop may poll: several times the cost of a sleep and a wake-up in a virtual
     * machine.
     */
    public static final Duration BUSY_POLL = Duration.ofNanos(300_000);

    public NetSettings {
        if (stagingCapacity < MIN_STAGING_CAPACITY || stagingCapacity >= LARGE_OUTPUT_CAPACITY) {
            throw new IllegalArgumentException(
                    "staging buffers cannot have " + stagingCapacity + " bytes: at least " + MIN_STAGING_CAPACITY
                            + " are needed for the largest FPDU; use less than " + LARGE_OUTPUT_CAPACITY);
        }
    }

    /**
     * Returns the defaults: 256 KiB, 128 buffers with 8 large ones among them, 32 MiB, 1448 bytes, 5 s, 60 s, 60 s,
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
     * Returns {@link #BUSY_POLL}. Returns zero where polling would keep the peer off the only processor, or where the
     * process has a quota of less than one processor's time.
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

    /** Returns the settings with other numbers of output buffers: of all, and of the large buffers among them. */
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
