// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableDoubleMeasurement;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import io.sidewarp.engine.verbs.AssociationAttributes;
import io.sidewarp.engine.verbs.AssociationPath;
import io.sidewarp.engine.verbs.Device;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** Metrics of SCTP associations: their number, streams, paths and retransmissions. Thread-safe. */
public final class AssociationMetrics {

    private static final AttributeKey<String> STATE = AttributeKey.stringKey("state");
    private static final Attributes ACTIVE = Attributes.of(STATE, "active");
    private static final Attributes INACTIVE = Attributes.of(STATE, "inactive");
    private static final double NANOS = 1e9;
    private static final long PATIENCE_MILLIS = 1000;

    private final ObservableLongMeasurement retransmissions;
    private final ObservableLongMeasurement associations;
    private final ObservableLongMeasurement streams;
    private final ObservableLongMeasurement paths;
    private final ObservableDoubleMeasurement rtt;
    private final Meter meter;
    /** Retransmitted chunks of associations that have ended. */
    private final LongAdder ended = new LongAdder();

    private final AtomicLong told = new AtomicLong();

    AssociationMetrics(Meter meter) {
        this.meter = meter;
        retransmissions = meter.counterBuilder("sidewarp.sctp.retransmissions")
                .setDescription("DATA chunks that SCTP sent again")
                .setUnit("{chunk}")
                .buildObserver();
        associations = meter.gaugeBuilder("sidewarp.sctp.associations")
                .ofLongs()
                .setDescription("SCTP associations that are up")
                .setUnit("{association}")
                .buildObserver();
        streams = meter.gaugeBuilder("sidewarp.sctp.streams")
                .ofLongs()
                .setDescription("Pairs of SCTP streams that have a connection, or chunks of a former one in flight")
                .setUnit("{stream}")
                .buildObserver();
        paths = meter.gaugeBuilder("sidewarp.sctp.paths")
                .ofLongs()
                .setDescription("Paths of SCTP associations, by whether they answer")
                .setUnit("{path}")
                .buildObserver();
        rtt = meter.gaugeBuilder("sidewarp.sctp.rtt")
                .setDescription("Largest smoothed round trip time of a path that carries data")
                .setUnit("s")
                .buildObserver();
    }

    /** Records the associations of a device whenever metrics are collected, until the returned handle is closed. */
    public AutoCloseable observe(Device device) {
        return meter.batchCallback(() -> collect(device), retransmissions, associations, streams, paths, rtt);
    }

    /**
     * Counts an association that has ended.
     *
     * @param retransmittedChunks chunks that the association retransmitted in total
     */
    public void closed(long retransmittedChunks) {
        ended.add(retransmittedChunks);
    }

    private void collect(Device device) {
        // An association that ends meanwhile is in neither number. The largest value that was reported before holds
        // until the association is counted.
        long before = ended.sum();
        try {
            record(before, device.associations().get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // The device is closing, or too busy: this collection does not include it.
        }
    }

    private void record(long retransmittedBefore, List<AssociationAttributes> all) {
        long live = all.stream()
                .mapToLong(AssociationAttributes::retransmittedChunks)
                .sum();
        retransmissions.record(told.accumulateAndGet(retransmittedBefore + live, Math::max));
        List<AssociationPath> every = all.stream()
                .flatMap(association -> association.paths().stream())
                .toList();
        long active = every.stream().filter(AssociationPath::active).count();
        associations.record(all.size());
        streams.record(
                all.stream().mapToLong(AssociationAttributes::occupiedStreams).sum());
        paths.record(active, ACTIVE);
        paths.record(every.size() - active, INACTIVE);
        rtt.record(every.stream()
                        .filter(AssociationPath::primary)
                        .map(AssociationPath::smoothedRtt)
                        .reduce(Duration.ZERO, (one, other) -> one.compareTo(other) < 0 ? other : one)
                        .toNanos()
                / NANOS);
    }
}
