// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import java.util.List;
import java.util.Optional;

/** Result of a part of the benchmark, measured in one run. */
public record PartResult(RunFacts facts, List<Figures> figures) {

    public PartResult {
        figures = List.copyOf(figures);
    }

    /** Returns the figures of a subject. */
    public Optional<Figures> find(Subject subject) {
        return figures.stream().filter(each -> each.subject().equals(subject)).findFirst();
    }

    /** Returns the series of a figure. */
    public Optional<Series> find(Subject subject, Metric metric) {
        return find(subject).flatMap(found -> found.find(metric));
    }
}
