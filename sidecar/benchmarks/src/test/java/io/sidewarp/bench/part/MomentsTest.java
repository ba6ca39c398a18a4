// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.bench.process.Build;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Series;
import io.sidewarp.bench.result.Subject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MomentsTest {

    private static final double NEAR = Moments.NEAR_MICROS;
    private static final double BETWEEN = (Moments.NEAR_MICROS + Moments.FAR_MICROS) / 2;
    private static final double FAR = Moments.FAR_MICROS;
    private static final Subject SUBJECT = Peers.nioStream(1 << 20);

    private final List<String> progress = new ArrayList<>();

    private List<Double> samples(List<Double> distances, Metric metric, double... rates) {
        Iterator<Double> distance = distances.iterator();
        Iterator<Double> rate = Arrays.stream(rates).iterator();
        Recorder recorder = new Recorder();
        Lab lab = new Lab(
                Build.own(Path.of(".")),
                Optional.empty(),
                Place.ANYWHERE,
                Place.ANYWHERE,
                Path.of("."),
                Duration.ZERO,
                true,
                progress::add);

        new Moments(lab, recorder, rates.length, distance::next).measure(SUBJECT, rate::next);

        assertThat(distance)
                .as("one distance before all moments and one behind each")
                .isExhausted();
        return recorder.figures().stream()
                .flatMap(figures -> figures.find(metric).stream())
                .map(Series::samples)
                .findFirst()
                .orElse(List.of());
    }

    @Test
    void aMomentIsNearWhenItBeginsAndEndsNear() {
        List<Double> distances = List.of(NEAR, NEAR, BETWEEN, NEAR, FAR, NEAR);

        assertThat(samples(distances, Metric.NEAR_GIGABITS_PER_SECOND, 20, 21, 22, 23, 24))
                .containsExactly(20.0);
        assertThat(progress).singleElement().asString().contains("22.00 Gbit/s in 5 moments, 1 with near processors");
    }

    @Test
    void aMomentIsFarWhenItBeginsAndEndsFar() {
        List<Double> distances = List.of(FAR, 3.0, BETWEEN, FAR, NEAR, FAR);

        assertThat(samples(distances, Metric.FAR_GIGABITS_PER_SECOND, 10, 11, 12, 13, 14))
                .containsExactly(10.0);
    }

    @Test
    void everyMomentCountsWithoutRegardToTheDistance() {
        assertThat(samples(List.of(NEAR, FAR, BETWEEN), Metric.GIGABITS_PER_SECOND, 10, 20))
                .containsExactly(10.0, 20.0);
    }
}
