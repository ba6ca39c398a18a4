// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import org.jspecify.annotations.Nullable;

/**
 * Circumstances of the measurement of a part.
 *
 * @param begun time of day, ISO 8601
 * @param commit commit of the sources, followed by {@code -dirty} if they were changed; {@code unknown} without Git
 * @param before commit of the build that a part compares with; null if there is none
 * @param kernel name and release of the kernel, and the congestion control of TCP
 * @param processor model of the processors
 * @param processors number of processors that the command could use
 * @param memoryMib memory of the machine in MiB
 * @param jdk vendor and version of the JDK
 * @param pinning processors of the active and of the passive end
 * @param repetitions repetitions of each measurement
 * @param milliseconds time of each measurement; iperf3 takes whole seconds if this is at least one
 * @param othersPercent share of other programs in the time of all processors; shows how quiet the machine was
 */
public record RunFacts(
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
        double othersPercent) {}
