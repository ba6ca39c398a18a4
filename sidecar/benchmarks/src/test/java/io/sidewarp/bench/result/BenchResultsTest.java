// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.bench.result.PartResult.Figures;
import io.sidewarp.cli.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchResultsTest {

    private static final RunFacts FACTS = new RunFacts(
            "2026-01-01T00:00:00Z", "abcdef", null, "Linux 6.1", "CPU", 2, 1024, "JDK", "0:1", 3, 400, 1.5);
    private static final Subject WRITE = new Subject("engine", "write", 64, 16, 4, 1, true, false, "adaptive", false);
    private static final Subject PEER = Subject.of("iperf3", "stream");

    @TempDir
    private Path directory;

    private static PartResult part(Subject subject, double... samples) {
        Recorder recorder = new Recorder();
        for (double sample : samples) {
            recorder.add("group", false, subject, Map.of(Metric.GIGABITS_PER_SECOND, sample));
        }
        return new PartResult(FACTS, recorder.figures());
    }

    @Test
    void aFileHoldsWhatWasWrittenToIt() {
        Path file = directory.resolve("new/bench.json");
        BenchResults results = BenchResults.empty().with(Part.THROUGHPUT, part(WRITE, 1, 2, 4));

        results.write(file);

        assertThat(BenchResults.read(file)).isEqualTo(results);
    }

    @Test
    void aFileIsReplacedAsAWhole() throws Exception {
        Path file = directory.resolve("bench.json");
        BenchResults before = BenchResults.empty().with(Part.RATE, part(WRITE, 1));
        before.write(file);
        Path old = Files.createLink(directory.resolve("old.json"), file);

        BenchResults.empty().write(file);

        assertThat(BenchResults.read(file)).isEqualTo(BenchResults.empty());
        assertThat(BenchResults.read(old)).isEqualTo(before);
        assertThat(directory).isDirectoryNotContaining(each -> each.toString().endsWith(".new"));
    }

    @Test
    void figuresOfASubjectAreKeptByGroup() {
        Recorder recorder = new Recorder();
        recorder.add("one", true, PEER, Map.of(Metric.P50_MICROSECONDS, 1.0));
        recorder.add("other", false, PEER, Map.of(Metric.P50_MICROSECONDS, 2.0));

        assertThat(recorder.figures())
                .containsExactly(
                        new Figures("one", true, PEER, Map.of(Metric.P50_MICROSECONDS, new Series(List.of(1.0)))),
                        new Figures("other", false, PEER, Map.of(Metric.P50_MICROSECONDS, new Series(List.of(2.0)))));
    }

    @Test
    void measuringAPartAgainKeepsTheOthers() {
        Path file = directory.resolve("bench.json");
        BenchResults.empty()
                .with(Part.THROUGHPUT, part(WRITE, 1))
                .with(Part.RATE, part(WRITE, 2))
                .write(file);

        BenchResults results = BenchResults.read(file).with(Part.RATE, part(PEER, 3));

        assertThat(results.parts()).containsOnlyKeys(Part.THROUGHPUT, Part.RATE);
        assertThat(results.parts().get(Part.RATE).figures()).singleElement().satisfies(figures -> {
            assertThat(figures.subject()).isEqualTo(PEER);
            assertThat(figures.values().get(Metric.GIGABITS_PER_SECOND).median())
                    .isEqualTo(3);
        });
    }

    @Test
    void theFileHasMedianSpreadAndSamplesOfEachFigure() throws Exception {
        Path file = directory.resolve("bench.json");
        BenchResults.empty().with(Part.THROUGHPUT, part(WRITE, 4, 1, 2)).write(file);

        JsonNode json = new ObjectMapper().readTree(file.toFile());

        assertThat(json.at("/version").asInt()).isEqualTo(2);
        assertThat(json.at("/parts/THROUGHPUT/facts/commit").asText()).isEqualTo("abcdef");
        JsonNode figures = json.at("/parts/THROUGHPUT/figures/0");
        assertThat(figures.at("/group").asText()).isEqualTo("group");
        assertThat(figures.at("/reference").asBoolean()).isFalse();
        assertThat(figures.at("/subject/program").asText()).isEqualTo("engine");
        assertThat(figures.at("/subject/crc").asBoolean()).isTrue();
        JsonNode series = figures.at("/values/gigabits_per_second");
        assertThat(series.get("median").asDouble()).isEqualTo(2);
        assertThat(series.get("min").asDouble()).isEqualTo(1);
        assertThat(series.get("max").asDouble()).isEqualTo(4);
        assertThat(series.get("samples")).hasSize(3);
    }

    @Test
    void aFileOfSomethingElseIsRefused() throws Exception {
        Path file = Files.writeString(directory.resolve("bench.json"), "[1]");

        assertThatThrownBy(() -> BenchResults.read(file))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("does not hold results");
    }

    @Test
    void aFileOfAnotherVersionIsRefused() throws Exception {
        Path file = Files.writeString(directory.resolve("bench.json"), "{\"version\": 9, \"parts\": {}}");

        assertThatThrownBy(() -> BenchResults.read(file))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("version 9");
    }
}
