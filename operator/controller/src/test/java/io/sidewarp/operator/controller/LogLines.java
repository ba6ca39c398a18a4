// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Collects the log lines of a class until this object is closed. */
public final class LogLines implements AutoCloseable {
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger logger;
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            lines.add(String.format(entry.getMessage(), entry.getParameters()));
        }

        @Override
        public void flush() {
            // Nothing is kept back.
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    };

    private LogLines(Logger logger) {
        this.logger = logger;
        logger.addHandler(handler);
    }

    public static LogLines of(Class<?> writer) {
        return new LogLines(Logger.getLogger(writer.getName()));
    }

    public List<String> all() {
        return lines;
    }

    @Override
    public void close() {
        logger.removeHandler(handler);
    }
}
