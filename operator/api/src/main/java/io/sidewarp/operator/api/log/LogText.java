// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.log;

import org.jspecify.annotations.Nullable;

/** Text of others in lines of the log, which consist of {@code key=value}, and in messages for people. */
public final class LogText {
    private static final int MAX = 1000;

    private LogText() {}

    /** A value in quotation marks, which nothing in it ends; its first 1,000 characters if it is longer. */
    public static String quoted(@Nullable Object value) {
        String text = printable(String.valueOf(value), MAX);
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /**
     * Text that begins no line and does not change the terminal.
     *
     * @param max how many characters of it there are at most; dots tell that there were more
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
