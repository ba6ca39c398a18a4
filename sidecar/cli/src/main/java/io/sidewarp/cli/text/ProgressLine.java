// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import java.io.PrintStream;

/**
 * One line on standard error that is overwritten repeatedly. It appears only on a terminal, so that files and
 * pipes get only results.
 */
public final class ProgressLine implements AutoCloseable {

    private static final String ERASE = "\r\033[K";

    private final PrintStream stream;
    private final boolean visible;
    private boolean shown;

    ProgressLine(PrintStream stream, boolean visible) {
        this.stream = stream;
        this.visible = visible;
    }

    /** Returns a line on standard error, visible if that is a terminal. */
    public static ProgressLine onTerminal() {
        return new ProgressLine(System.err, Terminal.isPresent());
    }

    /** Returns a line that never shows anything. */
    public static ProgressLine hidden() {
        return new ProgressLine(System.err, false);
    }

    /** Returns whether updates can be seen. */
    public boolean isVisible() {
        return visible;
    }

    /** Replaces the line. */
    public synchronized void update(String text) {
        if (visible) {
            shown = true;
            stream.print(ERASE + text);
            stream.flush();
        }
    }

    /** Removes the line. */
    public synchronized void clear() {
        if (shown) {
            shown = false;
            stream.print(ERASE);
            stream.flush();
        }
    }

    @Override
    public void close() {
        clear();
    }
}
