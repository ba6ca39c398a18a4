// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.programs;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs the tests of a class without a build tool. Prints {@value #PASSED} with the name of each passed test, and the
 * reason of each failure. The exit status is 0 if there were tests and all of them passed.
 *
 * <p>Argument: the name of the class.
 */
public final class TestRunner {

    public static final String PASSED = "passed: ";

    private TestRunner() {}

    public static void main(String[] arguments) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(arguments[0]))
                .build();
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, summary, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest() && result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
                    System.out.println(PASSED + test.getDisplayName());
                }
            }
        });
        summary.getSummary().printFailuresTo(new PrintWriter(System.out, true, StandardCharsets.UTF_8));
        long passed = summary.getSummary().getTestsSucceededCount();
        boolean allPassed = passed > 0 && passed == summary.getSummary().getTestsFoundCount();
        System.exit(allPassed ? 0 : 1);
    }
}
