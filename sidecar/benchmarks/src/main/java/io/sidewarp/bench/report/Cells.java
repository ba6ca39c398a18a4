// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Series;
import io.sidewarp.bench.result.Subject;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;

/** Figures of a part as cells of a table. A cell is empty if nothing was measured. */
record Cells(PartResult part) {

    OptionalDouble median(Subject subject, Metric metric) {
        return part.find(subject, metric).stream().mapToDouble(Series::median).findFirst();
    }

    /** Returns the median. */
    String value(Subject subject, Metric metric) {
        return part.find(subject, metric).map(series -> number(series.median())).orElse("");
    }

    /** Returns the median, and the least and the greatest value in parentheses. */
    String spread(Subject subject, Metric metric) {
        return part.find(subject, metric)
                .map(series -> series.samples().size() == 1
                        ? number(series.median())
                        : number(series.median()) + " (" + number(series.min()) + "–" + number(series.max()) + ")")
                .orElse("");
    }

    /** Returns the median, and the quartiles in parentheses; for many samples. */
    String quartiles(Subject subject, Metric metric) {
        return part.find(subject, metric).map(Cells::quartiles).orElse("");
    }

    /** Returns the ratio of a subject to another one in each turn: the median, and the quartiles in parentheses. */
    String ofEachTurn(Subject subject, Subject reference, Metric metric) {
        return turns(subject, reference, metric).map(Cells::quartiles).orElse("");
    }

    /** Returns the median of a subject's ratios to another one in each turn. */
    OptionalDouble medianOfTurns(Subject subject, Subject reference, Metric metric) {
        return turns(subject, reference, metric).stream()
                .mapToDouble(Series::median)
                .findFirst();
    }

    private Optional<Series> turns(Subject subject, Subject reference, Metric metric) {
        return part.find(subject, metric)
                .flatMap(series -> part.find(reference, metric).map(series::over));
    }

    private static String quartiles(Series series) {
        return number(series.median()) + " (" + number(series.quartiles().getFirst()) + "–"
                + number(series.quartiles().getLast()) + ")";
    }

    /** Returns the number of samples. */
    int count(Subject subject, Metric metric) {
        return part.find(subject, metric).map(series -> series.samples().size()).orElse(0);
    }

    /** Returns the ratio of the median to that of another subject. */
    String ratio(Subject subject, Subject reference, Metric metric) {
        return number(ratio(median(subject, metric), median(reference, metric)));
    }

    /** Returns the processor time of both ends for a GiB. */
    OptionalDouble cpuOfBothEnds(Subject subject) {
        OptionalDouble active = median(subject, Metric.ACTIVE_CPU_SECONDS_PER_GIB);
        OptionalDouble passive = median(subject, Metric.PASSIVE_CPU_SECONDS_PER_GIB);
        return active.isPresent() && passive.isPresent()
                ? OptionalDouble.of(active.getAsDouble() + passive.getAsDouble())
                : OptionalDouble.empty();
    }

    /** Returns the ratio of two figures; empty unless both exist. */
    static OptionalDouble ratio(OptionalDouble figure, OptionalDouble reference) {
        return figure.isPresent() && reference.isPresent()
                ? OptionalDouble.of(figure.getAsDouble() / reference.getAsDouble())
                : OptionalDouble.empty();
    }

    /** Returns a figure as text; empty text if there is none. */
    static String number(OptionalDouble figure) {
        return figure.isPresent() ? number(figure.getAsDouble()) : "";
    }

    /** Returns a number with three digits, since no figure is more precise. */
    static String number(double value) {
        double size = Math.abs(value);
        if (size >= 100) {
            double unit = Math.pow(10, Math.floor(Math.log10(size)) - 2);
            return String.format(Locale.ROOT, "%.0f", Math.rint(value / unit) * unit);
        }
        if (size < 0.0005) {
            return "0";
        }
        return String.format(Locale.ROOT, size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f", value);
    }
}
