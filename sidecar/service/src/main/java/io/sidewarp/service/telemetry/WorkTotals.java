// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.QueuePairCounters;
import io.sidewarp.engine.verbs.WrOpcode;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;

/**
 * Messages, bytes, errors and latency of operations, over all connections. Operations of this side ("out") are counted
 * when they complete. Operations of peers ("in") are taken from the counters of queue pairs. Thread-safe.
 */
public final class WorkTotals {

    private static final AttributeKey<String> OPERATION = AttributeKey.stringKey("operation");
    private static final AttributeKey<String> DIRECTION = AttributeKey.stringKey("direction");
    private static final AttributeKey<String> STATUS = AttributeKey.stringKey("status");
    private static final double NANOS = 1e9;
    private static final List<Double> LATENCY_BUCKETS = List.of(
            10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 0.1, 0.5, 1.0, 5.0);

    private final Counter writeOut = new Counter("write", "out");
    private final Counter writeIn = new Counter("write", "in");
    private final Counter readOut = new Counter("read", "out");
    private final Counter readIn = new Counter("read", "in");
    private final Counter sendOut = new Counter("send", "out");
    private final Counter sendIn = new Counter("send", "in");
    private final Counter immediateOut = new Counter("immediate", "out");
    private final Counter immediateIn = new Counter("immediate", "in");
    private final Counter atomicOut = new Counter("atomic", "out");
    private final Counter atomicIn = new Counter("atomic", "in");
    private final List<Counter> all = List.of(
            writeOut, writeIn, readOut, readIn, sendOut, sendIn, immediateOut, immediateIn, atomicOut, atomicIn);

    private final LongAdder[][] errors = new LongAdder[WrOpcode.values().length][CqeStatus.values().length];
    private final Attributes[][] errorAttributes = new Attributes[errors.length][CqeStatus.values().length];
    private final Attributes[] latencyAttributes = new Attributes[errors.length];
    private final DoubleHistogram latency;
    private final int sampling;

    WorkTotals(Meter meter, int sampling, Runnable beforeCollection) {
        this.sampling = sampling;
        for (WrOpcode opcode : WrOpcode.values()) {
            String name = name(opcode);
            latencyAttributes[opcode.ordinal()] = Attributes.of(OPERATION, name);
            for (CqeStatus status : CqeStatus.values()) {
                errors[opcode.ordinal()][status.ordinal()] = new LongAdder();
                errorAttributes[opcode.ordinal()][status.ordinal()] =
                        Attributes.of(OPERATION, name, STATUS, status.name().toLowerCase(Locale.ROOT));
            }
        }
        latency = meter.histogramBuilder("sidewarp.operation.duration")
                .setDescription("Time from the post of a work request to its completion, of a sample of them")
                .setUnit("s")
                .setExplicitBucketBoundariesAdvice(LATENCY_BUCKETS)
                .build();
        meter.counterBuilder("sidewarp.messages")
                .setDescription("RDMA messages that were carried out")
                .setUnit("{message}")
                .buildWithCallback(measurement -> {
                    beforeCollection.run();
                    all.forEach(counter -> measurement.record(counter.messages.sum(), counter.attributes));
                });
        meter.counterBuilder("sidewarp.payload")
                .setDescription("Octets of payload of RDMA messages")
                .setUnit("By")
                .buildWithCallback(measurement -> {
                    beforeCollection.run();
                    all.forEach(counter -> measurement.record(counter.octets.sum(), counter.attributes));
                });
        meter.counterBuilder("sidewarp.errors")
                .setDescription("Work requests that failed")
                .setUnit("{work_request}")
                .buildWithCallback(this::recordErrors);
    }

    /** Returns a meter for a session's thread. */
    public WorkMeter meter() {
        return new WorkMeter(this, sampling);
    }

    void add(WrOpcode opcode, long messages, long octets) {
        switch (opcode) {
            case RDMA_WRITE -> writeOut.add(messages, octets);
            case RDMA_READ -> readOut.add(messages, octets);
            case SEND -> sendOut.add(messages, octets);
            case IMMEDIATE -> immediateOut.add(messages, 0);
            case RDMA_WRITE_WITH_IMMEDIATE -> {
                writeOut.add(messages, octets);
                immediateOut.add(messages, 0);
            }
            case FETCH_ADD, COMPARE_SWAP -> atomicOut.add(messages, 0);
            case RECEIVE -> sendIn.add(messages, octets);
            case LOCAL_INVALIDATE, ENABLE, FLUSH -> {}
        }
    }

    void error(WrOpcode opcode, CqeStatus status) {
        errors[opcode.ordinal()][status.ordinal()].increment();
    }

    void latency(WrOpcode opcode, long nanos) {
        latency.record(nanos / NANOS, latencyAttributes[opcode.ordinal()]);
    }

    /** Returns a counter for the operations of one connection's peer. */
    public PassiveWork passive() {
        return new PassiveWork();
    }

    private void recordErrors(ObservableLongMeasurement measurement) {
        for (int opcode = 0; opcode < errors.length; opcode++) {
            for (int status = 0; status < errors[opcode].length; status++) {
                long count = errors[opcode][status].sum();
                if (count != 0) {
                    measurement.record(count, errorAttributes[opcode][status]);
                }
            }
        }
    }

    private static String name(WrOpcode opcode) {
        return switch (opcode) {
            case RDMA_WRITE -> "write";
            case RDMA_READ -> "read";
            case SEND -> "send";
            case RECEIVE -> "receive";
            case IMMEDIATE -> "immediate";
            case RDMA_WRITE_WITH_IMMEDIATE -> "write_with_immediate";
            case FETCH_ADD -> "fetch_add";
            case COMPARE_SWAP -> "compare_swap";
            case LOCAL_INVALIDATE -> "local_invalidate";
            case ENABLE -> "enable";
            case FLUSH -> "flush";
        };
    }

    /**
     * Counts the operations of one connection's peer, from the queue pair's counters. Those counters have bytes by
     * direction only. The peer's bytes are therefore the bytes that this side's own operations do not account for. The
     * result is inexact by this side's operations in progress and by those that were cut off. If the peer had no
     * operation of a kind, the kind gets no bytes.
     */
    public final class PassiveWork {

        private long writes;
        private long reads;
        private long writeOctets;
        private long readOctets;
        private long atomics;
        private long immediates;

        private PassiveWork() {}

        /**
         * Adds the operations since the last update.
         *
         * @param sent bytes of this side's completed Writes and Sends on the connection
         * @param received bytes of this side's completed Reads and of received Sends on the connection
         */
        public synchronized void update(QueuePairCounters counters, long sent, long received) {
            long newWriteOctets =
                    counters.writesReceived() == 0 ? 0 : Math.max(writeOctets, counters.octetsReceived() - received);
            long newReadOctets = counters.readsServed() == 0 ? 0 : Math.max(readOctets, counters.octetsSent() - sent);
            writeIn.add(counters.writesReceived() - writes, newWriteOctets - writeOctets);
            readIn.add(counters.readsServed() - reads, newReadOctets - readOctets);
            atomicIn.add(counters.atomicsServed() - atomics, 0);
            immediateIn.add(counters.immediatesReceived() - immediates, 0);
            atomics = counters.atomicsServed();
            immediates = counters.immediatesReceived();
            writes = counters.writesReceived();
            reads = counters.readsServed();
            writeOctets = newWriteOctets;
            readOctets = newReadOctets;
        }
    }

    /** Messages and bytes of one operation in one direction. */
    private static final class Counter {

        final Attributes attributes;
        final LongAdder messages = new LongAdder();
        final LongAdder octets = new LongAdder();

        Counter(String operation, String direction) {
            attributes = Attributes.of(OPERATION, operation, DIRECTION, direction);
        }

        void add(long newMessages, long newOctets) {
            messages.add(newMessages);
            octets.add(newOctets);
        }
    }
}
