// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.time.Duration;

/**
 * Settings of sockets and event loops.
 *
 * @param congestionControl name of TCP's congestion control, see {@link CongestionControl}
 * @param busyPoll the longest time that a loop without work polls before it sleeps
 */
public record NetSettings(Buffers buffers, Timeouts timeouts, String congestionControl, Duration busyPoll) {

    /**
     * Buffers of one loop.
     *
     * @param staging bytes of a buffer between socket and regions, from 128 KiB to less than
     *     {@link #LARGE_OUTPUT_CAPACITY}; a loop reads at most this much at a time
     * @param output number of buffers that the connections can have in full sockets. Further connections use
     *     {@link #SHORT_OUTPUT_CAPACITY} until a buffer is free. The same number of buffers can hold the beginning of a
     *     long FPDU; the FPDUs of further connections are copied.
     * @param largeOutput how many of these buffers have {@link #LARGE_OUTPUT_CAPACITY} instead of {@code staging}
     * @param reassembly bytes of all buffers into which such FPDUs are copied, counting buffers above 4 KiB. Above this
     *     limit the connection that has held its buffer for the longest time is ended.
     */
    public record Buffers(int staging, int output, int largeOutput, long reassembly) {

        public Buffers {
            if (staging < MIN_STAGING_CAPACITY || staging >= LARGE_OUTPUT_CAPACITY) {
                throw new IllegalArgumentException(
                        "staging buffers cannot have " + staging + " bytes: at least " + MIN_STAGING_CAPACITY
                                + " are needed for the largest FPDU; use less than " + LARGE_OUTPUT_CAPACITY);
            }
        }
    }

    /**
     * Times that a peer has.
     *
     * @param linger how long a connection whose FIN is acknowledged waits for the peer's FIN while nothing arrives
     * @param stall how long a peer may acknowledge nothing, or leave an FPDU incomplete, before its connection or
     *     association is aborted. While all output buffers are in use and other connections want one, the peer must
     *     read one buffer within this time.
     * @param keepAlive how long a peer may be silent before TCP probes whether it is still there, in whole seconds. A
     *     peer may leave data unacknowledged for twice this time. 0 disables both.
     */
    public record Timeouts(Duration linger, Duration stall, Duration keepAlive) {}

    /**
     * Smallest {@link Buffers#staging}. It holds the largest FPDU with Markers, and the other input that was read with
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

    /**
     * Returns the defaults: 256 KiB, 128 buffers with 8 large ones among them, 32 MiB, 5 s, 60 s, 60 s,
     * {@link CongestionControl#AUTOMATIC}, and {@link #defaultBusyPoll()}.
     */
    public static NetSettings defaults() {
        Duration minute = Duration.ofSeconds(60);
        return new NetSettings(
                new Buffers(256 * 1024, 128, 8, 32L << 20),
                new Timeouts(Duration.ofSeconds(5), minute, minute),
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

    public int stagingCapacity() {
        return buffers.staging;
    }

    public Duration stallTimeout() {
        return timeouts.stall;
    }

    public Duration keepAlive() {
        return timeouts.keepAlive;
    }

    private NetSettings with(Buffers newBuffers) {
        return new NetSettings(newBuffers, timeouts, congestionControl, busyPoll);
    }

    private NetSettings with(Timeouts newTimeouts) {
        return new NetSettings(buffers, newTimeouts, congestionControl, busyPoll);
    }

    public NetSettings withStagingCapacity(int octets) {
        return with(new Buffers(octets, buffers.output, buffers.largeOutput, buffers.reassembly));
    }

    /** Returns the settings with other numbers of output buffers: of all, and of the large buffers among them. */
    public NetSettings withOutputBuffers(int number, int large) {
        return with(new Buffers(buffers.staging, number, large, buffers.reassembly));
    }

    public NetSettings withReassemblyOctets(long octets) {
        return with(new Buffers(buffers.staging, buffers.output, buffers.largeOutput, octets));
    }

    public NetSettings withLingerTimeout(Duration timeout) {
        return with(new Timeouts(timeout, timeouts.stall, timeouts.keepAlive));
    }

    public NetSettings withStallTimeout(Duration timeout) {
        return with(new Timeouts(timeouts.linger, timeout, timeouts.keepAlive));
    }

    public NetSettings withKeepAlive(Duration silence) {
        return with(new Timeouts(timeouts.linger, timeouts.stall, silence));
    }

    public NetSettings withCongestionControl(String name) {
        return new NetSettings(buffers, timeouts, name, busyPoll);
    }

    public NetSettings withBusyPoll(Duration time) {
        return new NetSettings(buffers, timeouts, congestionControl, time);
    }
}
