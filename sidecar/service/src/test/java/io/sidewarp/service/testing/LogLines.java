// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Collects the lines of a logger and of loggers below it, until this object is closed. */
public final class LogLines implements AutoCloseable {

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger logger;
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            if (isLoggable(line)) {
                lines.add(line.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    private LogLines(String logger, Level least) {
        this.logger = Logger.getLogger(logger);
        handler.setLevel(least);
        this.logger.addHandler(handler);
    }

    public static LogLines of(String logger) {
        return new LogLines(logger, Level.ALL);
    }

    /** Collects warnings and more severe lines. */
    public static LogLines warnings(String logger) {
        return new LogLines(logger, Level.WARNING);
    }

    public List<String> all() {
        return lines;
    }

    @Override
    public void close() {
        logger.removeHandler(handler);
    }
}
