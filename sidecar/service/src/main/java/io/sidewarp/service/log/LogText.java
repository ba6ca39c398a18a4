// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.log;

/** Text of others in lines of the log, which consist of {@code key=value}. */
public final class LogText {

    private LogText() {}

    /** A value in quotation marks, which nothing in it ends. */
    public static String quoted(Object value) {
        String text = printable(String.valueOf(value));
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Nobody else's text begins a line of the log or changes the terminal. */
    static String printable(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints().forEach(point -> clean.appendCodePoint(Character.isISOControl(point) ? '?' : point));
        return clean.toString();
    }
}
