// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common;

import org.jspecify.annotations.Nullable;

/** Formats foreign text for {@code key=value} lines of the log and for messages to people. */
public final class LogText {
    private static final int MAX = 1000;

    private LogText() {}

    /**
     * Quotes a value. Nothing in the value can end the quotation. A longer value is cut to its first 1,000 characters.
     */
    public static String quoted(@Nullable Object value) {
        String text = printable(String.valueOf(value), MAX);
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /**
     * Replaces control characters, which could begin a line or change the terminal.
     *
     * @param max largest number of characters of the text; dots mark a longer text
     */
    public static String printable(String text, int max) {
        StringBuilder clean = new StringBuilder(Math.min(text.length(), max));
        text.codePoints()
                .limit(max)
                .forEach(point -> clean.appendCodePoint(Character.isISOControl(point) ? '?' : point));
        return text.codePointCount(0, text.length()) > max
                ? clean.append(" ...").toString()
                : clean.toString();
    }
}
