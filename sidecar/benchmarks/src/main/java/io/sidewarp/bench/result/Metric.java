// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** A figure of a measurement; its name ends with its unit. JSON has the names in lower case. */
public enum Metric {

    /** Throughput of messages of at least 1 KiB. */
    GIGABITS_PER_SECOND("Gbit/s"),

    /** Rate of messages of less than 1 KiB. */
    MESSAGES_PER_SECOND("messages/s"),
    P50_MICROSECONDS("p50 us"),
    P99_MICROSECONDS("p99 us"),
    P99_9_MICROSECONDS("p99.9 us"),
    ACTIVE_CPU_SECONDS_PER_GIB("CPU s/GiB, asking end"),
    PASSIVE_CPU_SECONDS_PER_GIB("CPU s/GiB, other end"),
    ACTIVE_ALLOCATED_OCTETS_PER_MESSAGE("bytes of heap a message, asking end"),
    PASSIVE_ALLOCATED_OCTETS_PER_MESSAGE("bytes of heap a message, other end"),
    COLLECTIONS("collections"),
    COLLECTION_MILLISECONDS("ms of collections"),

    /** Connections set up at both ends, with up to 64 in progress, for the first time in their processes. */
    CONNECTIONS_PER_SECOND("set up a second, at first"),

    /** Connections set up in processes that have done so for some time. */
    WARM_CONNECTIONS_PER_SECOND("set up a second, warm"),

    /** Memory of the connecting process for each idle connection, without the kernel's memory for sockets. */
    ACTIVE_OCTETS_PER_CONNECTION("bytes each, connecting end"),

    /** Memory of the accepting process for each idle connection, without the kernel's memory for sockets. */
    PASSIVE_OCTETS_PER_CONNECTION("bytes each, accepting end"),
    THROTTLED_PERCENT("% of periods with the quota used up"),
    MILLISECONDS_PER_GIB("ms/GiB"),
    READY_MILLISECONDS("ready after, ms"),
    RESIDENT_MIB("resident, MiB"),
    SIDECAR_CPU_PERCENT("sidecar, % of a processor"),
    APPLICATION_CPU_PERCENT("application, % of a processor"),
    FILES_KIB("files, KiB"),

    /** Percentage of a process's samples in which the kernel copied between memory and sockets. */
    KERNEL_COPY_PERCENT("kernel, copies %"),
    KERNEL_PERCENT("kernel, else %"),
    MEMORY_COPY_PERCENT("copies of memory %"),
    CRC_PERCENT("CRC %"),
    JAVA_PERCENT("Java %"),
    NATIVE_PERCENT("native, else %");

    private final String label;

    Metric(String label) {
        this.label = label;
    }

    @JsonValue
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns whether the reports have ratios of this figure. */
    public boolean isCompared() {
        return compareTo(P99_MICROSECONDS) <= 0;
    }

    /** Returns whether reports have this figure; the others are in the file of results only. */
    public boolean isReported() {
        return this != COLLECTIONS && this != COLLECTION_MILLISECONDS;
    }

    /** Returns the name for people. */
    @Override
    public String toString() {
        return label;
    }
}
