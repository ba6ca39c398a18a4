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

    private final Map<Subject, Map<Metric, List<Double>>> samples = new LinkedHashMap<>();

    public void add(Subject subject, Metric metric, double sample) {
        samples.computeIfAbsent(subject, ignored -> new EnumMap<>(Metric.class))
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
