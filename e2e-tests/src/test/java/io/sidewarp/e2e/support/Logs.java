// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/** Shows the last lines of the logs of a class's processes after each of its tests that fails. */
public final class Logs implements TestWatcher, AfterAllCallback {

    private static final int SHOWN_LINES = 80;
    private static final Set<Path> OF_THIS_CLASS = new ConcurrentSkipListSet<>();

    static void add(Path log) {
        OF_THIS_CLASS.add(log);
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        StringBuilder text = new StringBuilder();
        for (Path log : OF_THIS_CLASS) {
            text.append("--- ").append(log).append('\n');
            List<String> lines = lines(log);
            lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size())
                    .forEach(line -> text.append(line).append('\n'));
        }
        context.publishReportEntry("logs", text.toString());
        System.err.println("Logs behind the failure of " + context.getDisplayName() + ":\n" + text);
    }

    private static List<String> lines(Path log) {
        try {
            return new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (IOException e) {
            return List.of("cannot be read: " + e);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        OF_THIS_CLASS.clear();
    }
}
