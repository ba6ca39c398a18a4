// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Collects samples of a part, in the order in which subjects turn up. */
public final class Recorder {

    private final Map<Subject, Map<Metric, List<Double>>> samples;
    private final double quota;

    public Recorder() {
        this(new LinkedHashMap<>(), 0);
    }

    private Recorder(Map<Subject, Map<Metric, List<Double>>> samples, double quota) {
        this.samples = samples;
        this.quota = quota;
    }

    /** Takes the samples of what runs under a quota, to the others: see {@link Subject#quota()}. */
    public Recorder under(double seconds) {
        return new Recorder(samples, seconds);
    }

    public void add(Subject subject, Metric metric, double sample) {
        samples.computeIfAbsent(subject.withQuota(quota), ignored -> new EnumMap<>(Metric.class))
                .computeIfAbsent(metric, ignored -> new ArrayList<>())
                .add(sample);
    }

    /** Everything so far. */
    public List<Figures> figures() {
        List<Figures> figures = new ArrayList<>();
        samples.forEach((subject, values) -> {
            Map<Metric, Series> series = new EnumMap<>(Metric.class);
            values.forEach((metric, list) -> series.put(metric, new Series(list)));
            figures.add(new Figures(subject, series));
        });
        return figures;
    }
}
