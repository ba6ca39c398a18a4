// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes the outcomes of the tests that carry a {@link Requirement}, one file for each test run.
 *
 * <p>The build names the file by the system property {@value #RESULTS}. Without the property (in an IDE) nothing is
 * written. The JUnit platform finds this class as a service.
 */
public final class RequirementListener implements TestExecutionListener {
    static final String RESULTS = "sidewarp.conformance.results";

    private final @Nullable Path file;
    private final Map<String, Outcome> outcomes = new TreeMap<>();
    private final Map<String, Collection<String>> requirements = new TreeMap<>();
    private @Nullable TestPlan plan;

    public RequirementListener() {
        this(System.getProperty(RESULTS) == null ? null : Path.of(System.getProperty(RESULTS)));
    }

    RequirementListener(@Nullable Path file) {
        this.file = file;
    }

    @Override
    public synchronized void testPlanExecutionStarted(TestPlan started) {
        plan = started;
    }

    @Override
    public synchronized void executionSkipped(TestIdentifier test, String reason) {
        recordSkipped(test);
    }

    @Override
    public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
        switch (result.getStatus()) {
            case ABORTED -> recordSkipped(test);
            case FAILED -> record(test, Outcome.FAILED);
            case SUCCESSFUL -> {
                // A parameterised method is a container; only its invocations count.
                if (test.isTest()) {
                    record(test, Outcome.PASSED);
                }
            }
        }
    }

    @Override
    public synchronized void testPlanExecutionFinished(TestPlan plan) {
        if (file == null) {
            return;
        }
        Results results = new Results(isSelection());
        requirements.forEach((test, ids) -> {
            Outcome outcome = outcomes.getOrDefault(test, Outcome.SKIPPED);
            ids.forEach(id -> results.add(new Results.Row(id, test, outcome)));
        });
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.writeString(file, results.text());
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the conformance results to " + file, e);
        }
    }

    /** Records a skipped test or class. JUnit reports no tests of a skipped class, so all of them are recorded here. */
    private void recordSkipped(TestIdentifier test) {
        record(test, Outcome.SKIPPED);
        if (plan != null) {
            plan.getDescendants(test).forEach(below -> record(below, Outcome.SKIPPED));
        }
    }

    private void record(TestIdentifier test, Outcome outcome) {
        if (!(test.getSource().orElse(null) instanceof MethodSource source)) {
            return;
        }
        Collection<String> ids = new TreeSet<>();
        addIds(ids, source.getJavaMethod().getAnnotation(Requirement.class));
        addIds(ids, source.getJavaClass().getAnnotation(Requirement.class));
        if (!ids.isEmpty()) {
            String name = source.getClassName() + "#" + source.getMethodName();
            requirements.computeIfAbsent(name, key -> new TreeSet<>()).addAll(ids);
            outcomes.merge(name, outcome, Outcome::and);
        }
    }

    private static void addIds(Collection<String> ids, @Nullable Requirement requirement) {
        if (requirement != null) {
            ids.addAll(Arrays.asList(requirement.value()));
        }
    }

    /**
     * Returns whether only selected tests run. Surefire passes Maven's -Dtest to the tests' JVM; the results then say
     * nothing about other tests.
     */
    private static boolean isSelection() {
        return System.getProperty("test") != null || System.getProperty("it.test") != null;
    }
}
