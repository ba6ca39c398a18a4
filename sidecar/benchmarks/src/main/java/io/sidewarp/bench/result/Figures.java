// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import java.util.Map;
import java.util.Optional;

/** A subject and its figures. */
public record Figures(Subject subject, Map<Metric, Series> values) {

    public Optional<Series> find(Metric metric) {
        return Optional.ofNullable(values.get(metric));
    }
}
