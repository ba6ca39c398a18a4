// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import org.jspecify.annotations.Nullable;

/**
 * Under which circumstances a part was measured.
 *
 * @param begun time of day, ISO 8601
 * @param commit of the sources, with {@code -dirty} behind it when they were changed; {@code unknown} without Git
 * @param before commit of the sources of the build that a part compares with, none without one
 * @param kernel name and release, and the congestion control of TCP
 * @param processor model
 * @param processors that the command could use
 * @param memoryMib of the machine
 * @param jdk vendor and version
 * @param pinning processors of the active and of the passive end
 * @param repetitions of each measurement
 * @param milliseconds of each measurement of a part that {@link Part#isTimed}; iperf3 takes whole seconds
 * @param othersPercent of the time of all processors that other programs took: how quiet the machine was
 */
public record Facts(
        String begun,
        String commit,
        @Nullable String before,
        String kernel,
        String processor,
        int processors,
        long memoryMib,
        String jdk,
        String pinning,
        int repetitions,
        long milliseconds,
        double othersPercent) {

    /** The same with what the repetitions so far brought. */
    public Facts after(int count, double others) {
        return new Facts(
                begun,
                commit,
                before,
                kernel,
                processor,
                processors,
                memoryMib,
                jdk,
                pinning,
                count,
                milliseconds,
                others);
    }
}
