// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Short fuzzing in each build: all kept inputs, some random inputs, and a short run. */
class FuzzTest {

    private static final int RANDOM_INPUTS = 2000;
    private static final int LONGEST_RANDOM_INPUT = 400;
    private static final int EXECUTIONS = 5000;
    private static final int SECONDS = 5;

    @ParameterizedTest
    @EnumSource(FuzzTarget.class)
    void noInputOfTheCorpusBreaksAnInvariant(FuzzTarget target) throws URISyntaxException {
        List<byte[]> corpus = corpus(target);
        for (int i = 0; i < corpus.size(); i++) {
            run(target, corpus.get(i), "input " + (i + 1) + " of the corpus");
        }
        assertThat(corpus).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource(FuzzTarget.class)
    void noRandomInputBreaksAnInvariant(FuzzTarget target) {
        for (int seed = 0; seed < RANDOM_INPUTS; seed++) {
            Random random = new Random(seed);
            byte[] data = new byte[random.nextInt(LONGEST_RANDOM_INPUT)];
            random.nextBytes(data);
            run(target, data, "seed " + seed);
        }
    }

    @ParameterizedTest
    @EnumSource(FuzzTarget.class)
    @Timeout(300)
    void aShortCoverageGuidedRunFindsNothing(FuzzTarget target, @TempDir Path directory)
            throws IOException, InterruptedException, URISyntaxException {
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        FuzzRun run = new FuzzRun(target, directory, new PrintStream(log, true, StandardCharsets.UTF_8));
        Corpus.unpack(corpus(target), run.corpus());

        FuzzRun.Result result = run.fuzz("-runs=" + EXECUTIONS, "-max_total_time=" + SECONDS);

        assertThat(result.findings()).as(log.toString(StandardCharsets.UTF_8)).isEmpty();
        assertThat(result.exitCode()).as(log.toString(StandardCharsets.UTF_8)).isZero();
        assertThat(result.executions()).isPositive();
    }

    private static List<byte[]> corpus(FuzzTarget target) throws URISyntaxException {
        Path resources = Path.of(FuzzTest.class.getResource("/fuzz").toURI()).getParent();
        return Corpus.read(Corpus.file(resources, target));
    }

    private static void run(FuzzTarget target, byte[] data, String which) {
        try {
            target.run(data);
        } catch (RuntimeException | Error e) {
            throw new AssertionError(target + ": " + which, e);
        }
    }
}
