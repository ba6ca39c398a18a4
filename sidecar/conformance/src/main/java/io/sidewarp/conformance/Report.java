// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Writes {@code docs/conformance.md} from the list of requirements and the results of all tests. The build runs this
 * program last.
 *
 * <p>Arguments: the repository's directory; the time at which the build began (ISO 8601); {@code --write} to write the
 * report, or {@code --check} to report a difference from the file in the repository. If only some tests ran, {@code
 * --write} does not change that file, and writes below {@code target} of the last module.
 *
 * <p>Exit status: 0 for success; 64 for wrong arguments; 1 for an error. Errors are wrong tags, failed tests with a
 * tag, requirements with neither test nor delegate, and missing tests in a check.
 */
public final class Report {
    private static final String REPORT = "docs/conformance.md";
    private static final String PARTIAL_REPORT = "e2e-tests/target/conformance.md";

    private Report() {}

    public static void main(String[] args) throws IOException {
        if (args.length != 3 || !List.of("--write", "--check").contains(args[2])) {
            System.err.println("usage: Report ROOT BUILD-START --write|--check");
            System.exit(64);
        }
        boolean good = run(Path.of(args[0]), Instant.parse(args[1]), args[2].equals("--check"), System.out);
        System.exit(good ? 0 : 1);
    }

    /** Writes the report and prints its actions and errors to {@code out}. Returns whether there are no errors. */
    static boolean run(Path root, Instant start, boolean check, PrintStream out) throws IOException {
        Requirements requirements = Requirements.read(root);
        TestRuns runs = TestRuns.read(root, start);
        if (!validate(requirements, runs, out)) {
            return false;
        }
        String text = new ReportText(requirements, runs.rows()).text();
        if (!runs.missing().isEmpty()) {
            Path partial = root.resolve(PARTIAL_REPORT);
            Files.createDirectories(partial.getParent());
            Files.writeString(partial, text);
            out.println("Conformance: not all tests ran (missing: " + String.join(", ", runs.missing()) + "). " + REPORT
                    + " stays as it is; what these tests prove is in " + PARTIAL_REPORT + ".");
            return !check;
        }
        boolean complete = findUntested(requirements, runs, out);
        Path report = root.resolve(REPORT);
        boolean same = Files.exists(report) && Files.readString(report).equals(text);
        if (same) {
            out.println("Conformance: " + REPORT + " is up to date.");
        } else if (check) {
            // A difference is no failure. It may come from features that a machine lacks, such as a kernel module.
            out.println("Conformance: " + REPORT + " is not what these tests prove. Run ./sidewarp test without CI in"
                    + " the environment, which writes it, and commit it.");
        } else {
            Files.writeString(report, text);
            out.println("Conformance: wrote " + REPORT + "; commit it.");
        }
        return complete;
    }

    /** Lists requirements without a test. A test counts even if this machine skips it. */
    private static boolean findUntested(Requirements requirements, TestRuns runs, PrintStream out) {
        Set<String> tested = runs.rows().stream().map(Results.Row::id).collect(Collectors.toSet());
        List<String> untested = requirements.entries().stream()
                .filter(entry -> !requirements.isDelegated(entry.id()) && !requirements.isPlanned(entry))
                .map(Requirements.Entry::id)
                .filter(id -> !tested.contains(id))
                .toList();
        untested.forEach(id -> out.println("Conformance: " + id + " has neither a test nor a delegate."));
        return untested.isEmpty();
    }

    private static boolean validate(Requirements requirements, TestRuns runs, PrintStream out) {
        TreeSet<String> errors = new TreeSet<>();
        for (Results.Row row : runs.rows()) {
            if (!requirements.has(row.id())) {
                errors.add(row.test() + " is tagged " + row.id() + ", which docs/conformance.tsv does not have.");
            }
            if (row.outcome() == Outcome.FAILED) {
                errors.add(row.test() + " failed; it is to prove " + row.id() + ".");
            }
        }
        errors.forEach(error -> out.println("Conformance: " + error));
        return errors.isEmpty();
    }
}
