// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.log;

/** Escapes text from outside for log lines, which consist of {@code key=value} pairs. */
public final class LogText {

    private LogText() {}

    /** Returns the value in quotation marks, with quotation marks, backslashes and control characters made harmless. */
    public static String quoted(Object value) {
        String text = printable(String.valueOf(value));
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /**
     * Replaces control characters by {@code ?}, so that text from outside cannot begin a log line or change the
     * terminal.
     */
    static String printable(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints().forEach(point -> clean.appendCodePoint(Character.isISOControl(point) ? '?' : point));
        return clean.toString();
    }
}
