// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One figure in all repetitions.
 *
 * @param samples in the order in which they were measured, at least one
 */
@JsonPropertyOrder({"median", "min", "max", "samples"})
public record Series(List<Double> samples) {

    public Series {
        if (samples.isEmpty()) {
            throw new IllegalArgumentException("a series has at least one sample");
        }
        samples = List.copyOf(samples);
    }

    /** Reads a series from a file. Derived values are not read. */
    @JsonCreator(mode = JsonCreator.Mode.PROPERTIES)
    static Series read(@JsonProperty("samples") List<Double> samples) {
        return new Series(samples);
    }

    /**
     * Returns the approximate quartiles: about a quarter of the samples is below the first value, and above the second
     * one.
     *
     * @return two values
     */
    public List<Double> quartiles() {
        List<Double> sorted = samples.stream().sorted().toList();
        int quarter = sorted.size() / 4;
        return List.of(sorted.get(quarter), sorted.get(sorted.size() - 1 - quarter));
    }

    /**
     * Returns the ratio of each sample to the sample of another series from the same turn. Slow phases of the machine
     * then count less than in a ratio of medians.
     *
     * @throws IllegalArgumentException if they have different numbers of samples
     */
    public Series over(Series other) {
        if (samples.size() != other.samples.size()) {
            throw new IllegalArgumentException(
                    samples.size() + " samples were not taken by turns with " + other.samples.size());
        }
        return new Series(IntStream.range(0, samples.size())
                .mapToObj(turn -> samples.get(turn) / other.samples.get(turn))
                .toList());
    }

    /** Returns the middle sample, or the mean of the two middle samples. */
    @JsonProperty
    public double median() {
        List<Double> sorted = samples.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    @JsonProperty
    public double min() {
        return samples.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
    }

    @JsonProperty
    public double max() {
        return samples.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    }
}
