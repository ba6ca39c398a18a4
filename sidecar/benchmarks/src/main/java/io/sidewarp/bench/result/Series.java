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

    /** Of a file; what follows from the samples is not read. */
    @JsonCreator(mode = JsonCreator.Mode.PROPERTIES)
    static Series read(@JsonProperty("samples") List<Double> samples) {
        return new Series(samples);
    }

    /**
     * A quarter of the samples is below the first and above the second, about.
     *
     * @return two values
     */
    public List<Double> quartiles() {
        List<Double> sorted = samples.stream().sorted().toList();
        int quarter = sorted.size() / 4;
        return List.of(sorted.get(quarter), sorted.get(sorted.size() - 1 - quarter));
    }

    /**
     * What each sample is of that of another series which was measured in the same turn, so that slow phases of the machine
     * count less than in a ratio of medians.
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

    /** The one in the middle, or the mean of the two in the middle. */
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
