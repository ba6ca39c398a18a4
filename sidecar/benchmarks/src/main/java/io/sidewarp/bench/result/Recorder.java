// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import io.sidewarp.bench.result.PartResult.Figures;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Collects samples of a part. Groups, and the subjects of each, are in the order in which they first appear. */
public final class Recorder {

    private final Map<String, Map<Subject, Samples>> groups = new LinkedHashMap<>();

    private record Samples(boolean reference, Map<Metric, List<Double>> values) {}

    /**
     * Adds one sample of each figure.
     *
     * @param reference whether the other subjects of the group are compared with this one
     */
    public void add(String group, boolean reference, Subject subject, Map<Metric, Double> figures) {
        Samples samples = groups.computeIfAbsent(group, ignored -> new LinkedHashMap<>())
                .computeIfAbsent(subject, ignored -> new Samples(reference, new EnumMap<>(Metric.class)));
        figures.forEach((metric, figure) -> samples.values()
                .computeIfAbsent(metric, ignored -> new ArrayList<>())
                .add(figure));
    }

    /** Returns all figures so far. */
    public List<Figures> figures() {
        List<Figures> figures = new ArrayList<>();
        groups.forEach((group, subjects) -> subjects.forEach((subject, samples) -> {
            Map<Metric, Series> series = new EnumMap<>(Metric.class);
            samples.values().forEach((metric, list) -> series.put(metric, new Series(list)));
            figures.add(new Figures(group, samples.reference(), subject, series));
        }));
        return figures;
    }
}
