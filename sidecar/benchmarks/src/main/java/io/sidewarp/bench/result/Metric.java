// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** A figure of a measurement; its name ends with its unit. JSON has the names in lower case. */
public enum Metric {
    GIGABITS_PER_SECOND,
    /** Throughput in moments in which the processors of both ends were near each other. */
    NEAR_GIGABITS_PER_SECOND,
    /** Throughput in moments in which the processors of both ends were far from each other. */
    FAR_GIGABITS_PER_SECOND,
    /** Throughput of one connection that has its processes for itself, by turns. */
    ALONE_GIGABITS_PER_SECOND,
    /** Throughput of one connection among many, relative to one alone in the turn before. */
    OF_ONE_ALONE,
    MESSAGES_PER_SECOND,
    P50_MICROSECONDS,
    P99_MICROSECONDS,
    P99_9_MICROSECONDS,
    /** Seconds of processor time per GiB of payload, at the end that keeps the time. */
    ACTIVE_CPU_SECONDS_PER_GIB,
    /** Seconds of processor time per GiB of payload, at the other end. */
    PASSIVE_CPU_SECONDS_PER_GIB,
    /** Bytes of heap at the end that keeps the time. */
    ACTIVE_ALLOCATED_OCTETS_PER_MESSAGE,
    /** Bytes of heap at the other end. */
    PASSIVE_ALLOCATED_OCTETS_PER_MESSAGE,
    /** Garbage collections at both ends. */
    COLLECTIONS,
    /** Time in garbage collections. */
    COLLECTION_MILLISECONDS,
    /** Connections set up at both ends, with up to 64 in progress, for the first time in their processes. */
    CONNECTIONS_PER_SECOND,
    /** Connections set up in processes that have done so for some time. */
    WARM_CONNECTIONS_PER_SECOND,
    /** Memory of the connecting process for each idle connection, without the kernel's memory for sockets. */
    ACTIVE_OCTETS_PER_CONNECTION,
    /** Memory of the accepting process for each idle connection, without the kernel's memory for sockets. */
    PASSIVE_OCTETS_PER_CONNECTION,
    /** Percentage of the periods in which a quota of processor time was used up. */
    THROTTLED_PERCENT,
    /** Time for one GiB of a region. */
    MILLISECONDS_PER_GIB,
    /** Time from the start of a process until it serves. */
    READY_MILLISECONDS,
    /** Resident memory of a process. */
    RESIDENT_MIB,
    /** Processor time of a sidecar, in percent of one processor. */
    SIDECAR_CPU_PERCENT,
    /** Processor time of an application, in percent of one processor. */
    APPLICATION_CPU_PERCENT,
    /** Size of the files in a shared volume. */
    FILES_KIB,
    /** Size of a container image as a file. */
    IMAGE_MIB,
    /** Percentage of a process's samples in which the kernel copied between memory and sockets. */
    KERNEL_COPY_PERCENT,
    /** Percentage of samples with other work of the kernel. */
    KERNEL_PERCENT,
    /** Percentage of samples in which the JVM's stubs copied memory. */
    MEMORY_COPY_PERCENT,
    /** Percentage of samples in which the JVM's stubs computed a CRC. */
    CRC_PERCENT,
    /** Percentage of samples in methods of Java. */
    JAVA_PERCENT,
    /** Percentage of samples in native code: the JVM and the C library. */
    NATIVE_PERCENT;

    @JsonValue
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }
}
