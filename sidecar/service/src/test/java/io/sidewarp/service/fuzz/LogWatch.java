// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Collects log lines that the sidecar must not write: errors, and exceptions of any level. Ignores warnings of gRPC
 * about transports that are closed while it writes, because this fuzzer closes them.
 */
final class LogWatch extends Handler {

    private static final Logger ROOT = Logger.getLogger("");
    private static final String GRPC = "io.grpc.";

    private final List<String> found = new CopyOnWriteArrayList<>();

    LogWatch() {
        setLevel(Level.WARNING);
        ROOT.addHandler(this);
    }

    @Override
    public void publish(LogRecord line) {
        boolean bad = line.getThrown() != null || line.getLevel().intValue() >= Level.SEVERE.intValue();
        if (bad && isLoggable(line) && !isOfClosedTransport(line)) {
            StringWriter text = new StringWriter();
            text.append(line.getLoggerName()).append(": ").append(line.getMessage());
            if (line.getThrown() != null) {
                line.getThrown().printStackTrace(new PrintWriter(text.append('\n'), true));
            }
            found.add(text.toString());
        }
    }

    private static boolean isOfClosedTransport(LogRecord line) {
        return String.valueOf(line.getLoggerName()).startsWith(GRPC)
                && line.getLevel().intValue() < Level.SEVERE.intValue()
                && !(line.getThrown() instanceof Error);
    }

    /** Returns what was found beside a failure. */
    String text() {
        return found.isEmpty() ? "" : "; the log has " + found;
    }

    void check() {
        if (!found.isEmpty()) {
            List<String> all = List.copyOf(found);
            found.clear();
            throw new AssertionError("the log has " + all.size() + " errors, the first: " + all.getFirst());
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        ROOT.removeHandler(this);
    }
}
