// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench;

import io.sidewarp.bench.part.Lab;
import io.sidewarp.bench.part.PartRunner;
import io.sidewarp.bench.process.Build;
import io.sidewarp.bench.process.Load;
import io.sidewarp.bench.result.BenchResults;
import io.sidewarp.bench.result.Part;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.RunFacts;
import java.io.PrintWriter;
import java.nio.file.Path;

/** Measures parts one after the other, and stores the results after each repetition. */
final class Bench {

    private final BenchSettings settings;
    private final Path directory;
    private final PrintWriter progress;

    /**
     * Makes a benchmark.
     *
     * @param directory directory for logs and other files of a run
     */
    Bench(BenchSettings settings, Path directory, PrintWriter progress) {
        this.settings = settings;
        this.directory = directory;
        this.progress = progress;
    }

    BenchResults run() {
        BenchResults results = BenchResults.read(settings.json());
        for (Part part : settings.parts()) {
            results = measure(part, results);
        }
        return results;
    }

    /** Measures a part. Stores each repetition at once, so that an interrupted run keeps its complete repetitions. */
    private BenchResults measure(Part part, BenchResults before) {
        RunFacts facts = Machine.facts(part, settings);
        Load begin = Load.now();
        Recorder recorder = new Recorder();
        BenchResults results = before;
        for (int repetition = 1; repetition <= settings.repetitions(); repetition++) {
            String prefix = part + " " + repetition + "/" + settings.repetitions() + "  ";
            Lab lab = new Lab(
                    Build.own(settings.root()),
                    settings.against(),
                    settings.pinning().activePlace(),
                    settings.pinning().passivePlace(),
                    directory,
                    settings.time(),
                    settings.quick(),
                    line -> progress.println(prefix + line));
            PartRunner.of(part).repeat(lab, recorder);
            results = before.with(
                    part,
                    new PartResult(facts.after(repetition, Load.now().othersPercentSince(begin)), recorder.figures()));
            results.write(settings.json());
        }
        return results;
    }
}
