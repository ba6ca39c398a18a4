// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import java.util.List;
import java.util.Optional;

/** A part of the benchmark, all of it measured in one run. */
public record PartResult(Facts facts, List<Figures> figures) {

    public PartResult {
        figures = List.copyOf(figures);
    }

    /** The figures of a subject. */
    public Optional<Figures> find(Subject subject) {
        return figures.stream().filter(each -> each.subject().equals(subject)).findFirst();
    }

    /** A figure's series. */
    public Optional<Series> find(Subject subject, Metric metric) {
        return find(subject).flatMap(found -> found.find(metric));
    }
}
