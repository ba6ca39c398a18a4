// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.report.Plots;
import io.sidewarp.bench.result.BenchResults;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Part;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.RunFacts;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchCommandTest {

    private static final Subject ENGINE =
            Subject.of("engine", TransferPlan.stream(TransferPlan.Operation.WRITE, 64, 1));

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        CommandLine command = BenchCommand.commandLine();
        return command.setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
    }

    @ParameterizedTest
    @CsvSource({
        "--repetitions, 0, at least 1",
        "--time, 0s, more than 0",
        "--time, soon, not a time",
        "--pin, 7, 0-1:2-3",
        "--only, SPEED, THROUGHPUT",
        "--only, COMPARISON, --against DIR"
    })
    void aWrongArgumentIsRefusedWithWhatWouldDo(String option, String value, String message) {
        assertThat(run(option, value)).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains(message);
    }

    @Test
    void whatIsComparedWithHasToBeBuilt() {
        assertThat(run("--against", directory.toString())).isEqualTo(ExitCode.NO_INPUT);
        assertThat(err.toString()).contains(directory.toString(), "./sidewarp bench --help");
    }

    @Test
    void aReportMeasuresNothing() {
        Path json = measured();

        assertThat(run("--report", "--json", json.toString())).isEqualTo(ExitCode.OK);
        assertThat(out.toString()).contains("## RATE", "| depth 1 | engine write 64 B, adaptive | 7.00 |");
    }

    /** Returns a file with a result. */
    private Path measured() {
        Recorder recorder = new Recorder();
        recorder.add("depth 1", false, ENGINE, Map.of(Metric.MESSAGES_PER_SECOND, 7.0));
        RunFacts facts = new RunFacts("", "abcdef", null, "Linux 6.1", "CPU", 2, 1024, "JDK", "0:1", 1, 400, 0);
        Path json = directory.resolve("bench.json");
        BenchResults.empty()
                .with(Part.RATE, new PartResult(facts, recorder.figures()))
                .write(json);
        return json;
    }

    @Test
    void aPartThatIsGoneIsRefusedWithTheOthers() {
        assertThat(run("--only", "MOMENTS")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("MOMENTS", "THROUGHPUT", "STREAMS", "COMPARISON", "PROFILE");
    }

    @Test
    void summaryIsWrittenAndAMissingGnuplotIsTold() throws Exception {
        Path json = measured();
        Path document = Files.writeString(directory.resolve("performance.md"), """
                <!-- begin: bench summary -->
                <!-- end: bench summary -->
                """);
        assumeThat(Plots.canDraw()).isFalse();

        assertThat(run("--report", "--json", json.toString(), "--write", document.toString()))
                .isEqualTo(ExitCode.OK);

        assertThat(Files.readString(document))
                .contains("| Write of 64 B, messages/s | 7.00 |", "- RATE: Commit abcdef");
        assertThat(err.toString()).contains("apt-get install gnuplot-nox");
    }

    @Test
    void aTimeThatNobodyWaitsForIsRefused() {
        assertThat(run("--report", "--time", "10001ms")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("at most 10s");
        assertThat(run(
                        "--report",
                        "--time",
                        "10s",
                        "--json",
                        directory.resolve("none.json").toString()))
                .isEqualTo(ExitCode.OK);
    }

    @Test
    void aDocumentThatCannotTakeTheTablesIsRefusedBeforeAnythingIsMeasured() throws Exception {
        Path json = directory.resolve("bench.json");
        Path document = Files.writeString(directory.resolve("performance.md"), "<!-- begin: bench summary -->\n");

        int exitCode = run(
                "--only",
                "RATE",
                "--quick",
                "--time",
                "1ms",
                "--json",
                json.toString(),
                "--write",
                document.toString());

        assertThat(exitCode).isEqualTo(ExitCode.NO_INPUT);
        assertThat(err.toString()).contains("end: bench summary").doesNotContain("RATE 1/1");
        assertThat(json).doesNotExist();
    }

    @Test
    void aDocumentWithoutMarksFailsWithAMessage() throws Exception {
        Path json = measured();
        Path document = Files.writeString(directory.resolve("performance.md"), "nothing");

        int exitCode = run("--report", "--json", json.toString(), "--write", document.toString());

        assertThat(exitCode).isEqualTo(ExitCode.NO_INPUT);
        assertThat(err.toString()).contains("bench summary");
    }
}
