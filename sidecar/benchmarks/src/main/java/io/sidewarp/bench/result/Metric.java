// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** A figure of a measurement; the name says its unit. In JSON in lower case. */
public enum Metric {
    GIGABITS_PER_SECOND,
    /** The same in moments in which the processors of both ends were near each other. */
    NEAR_GIGABITS_PER_SECOND,
    /** The same in moments in which they were far from each other. */
    FAR_GIGABITS_PER_SECOND,
    /** What one connection got that has its processes for itself, by turns. */
    ALONE_GIGABITS_PER_SECOND,
    /** What one among many got, of what one alone got in the turn before. */
    OF_ONE_ALONE,
    MESSAGES_PER_SECOND,
    P50_MICROSECONDS,
    P99_MICROSECONDS,
    P99_9_MICROSECONDS,
    /** Seconds of processor time per GiB of payload, at the end that keeps the time. */
    ACTIVE_CPU_SECONDS_PER_GIB,
    /** The same at the other end. */
    PASSIVE_CPU_SECONDS_PER_GIB,
    /** Octets of the heap, at the end that keeps the time. */
    ACTIVE_ALLOCATED_OCTETS_PER_MESSAGE,
    /** The same at the other end. */
    PASSIVE_ALLOCATED_OCTETS_PER_MESSAGE,
    /** Garbage collections at both ends. */
    COLLECTIONS,
    /** Time in them. */
    COLLECTION_MILLISECONDS,
    /** Set up at both ends, up to 64 at a time being under way, for the first time in their processes. */
    CONNECTIONS_PER_SECOND,
    /** The same in processes that have set up connections for some time. */
    WARM_CONNECTIONS_PER_SECOND,
    /** Memory of the process that connects, for each idle connection; what the kernel has for sockets is not in it. */
    ACTIVE_OCTETS_PER_CONNECTION,
    /** The same of the process that accepts. */
    PASSIVE_OCTETS_PER_CONNECTION,
    /** Of the periods of a quota of processor time, those in which it was used up. */
    THROTTLED_PERCENT,
    /** Time for a GiB of a region. */
    MILLISECONDS_PER_GIB,
    /** From the start of a process until it serves. */
    READY_MILLISECONDS,
    /** Memory of a process that is in use. */
    RESIDENT_MIB,
    /** Processor time of a sidecar, of that of one processor. */
    SIDECAR_CPU_PERCENT,
    /** The same of an application. */
    APPLICATION_CPU_PERCENT,
    /** Files in a shared volume. */
    FILES_KIB,
    /** A container image as a file. */
    IMAGE_MIB,
    /** Of the samples of a process, those in which the kernel copied between memory and sockets. */
    KERNEL_COPY_PERCENT,
    /** In which it did something else. */
    KERNEL_PERCENT,
    /** In which the JVM's stubs copied memory. */
    MEMORY_COPY_PERCENT,
    /** In which they computed a CRC. */
    CRC_PERCENT,
    /** In methods of Java. */
    JAVA_PERCENT,
    /** In native code: the JVM and the C library. */
    NATIVE_PERCENT;

    @JsonValue
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }
}
