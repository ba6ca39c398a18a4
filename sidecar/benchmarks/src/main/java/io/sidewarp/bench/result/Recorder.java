// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Collects samples of a part, in the order in which subjects first appear. */
public final class Recorder {

    private final Map<Subject, Map<Metric, List<Double>>> samples;
    private final UnaryOperator<Subject> naming;

    public Recorder() {
        this(new LinkedHashMap<>(), UnaryOperator.identity());
    }

    private Recorder(Map<Subject, Map<Metric, List<Double>>> samples, UnaryOperator<Subject> naming) {
        this.samples = samples;
        this.naming = naming;
    }

    /** Returns a recorder that adds samples under a quota to the same results: see {@link Subject#quota()}. */
    public Recorder under(double seconds) {
        return new Recorder(samples, subject -> subject.withQuota(seconds));
    }

    /** Returns a recorder that adds samples of the build to compare with to the same results. */
    public Recorder before() {
        return new Recorder(samples, Subject::before);
    }

    /** Returns a recorder that adds samples of a variant to the same results: see {@link Subject#with}. */
    public Recorder with(String variant) {
        return new Recorder(samples, subject -> subject.with(variant));
    }

    public void add(Subject subject, Metric metric, double sample) {
        samples.computeIfAbsent(naming.apply(subject), ignored -> new EnumMap<>(Metric.class))
                .computeIfAbsent(metric, ignored -> new ArrayList<>())
                .add(sample);
    }

    /** Returns all figures so far. */
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
