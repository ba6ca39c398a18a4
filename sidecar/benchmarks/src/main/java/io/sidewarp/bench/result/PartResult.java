// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import java.util.List;
import java.util.Map;

/** Result of a part of the benchmark, measured in one run. Figures of one group are beside each other. */
public record PartResult(RunFacts facts, List<Figures> figures) {

    /**
     * A subject and its figures.
     *
     * @param group name of the group of subjects that took turns
     * @param reference whether the others of the group are compared with this subject
     */
    public record Figures(String group, boolean reference, Subject subject, Map<Metric, Series> values) {}

    public PartResult {
        figures = List.copyOf(figures);
    }
}
