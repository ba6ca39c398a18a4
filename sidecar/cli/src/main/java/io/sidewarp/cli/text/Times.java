// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import java.time.Duration;
import java.util.Locale;
import picocli.CommandLine;

/** Times as people write them: {@code 5} and {@code 5s} (seconds), {@code 250ms}, {@code 2m}, {@code 1.5s}. */
public final class Times implements CommandLine.ITypeConverter<Duration> {

    private static final double MAX_SECONDS = 7 * 24 * 3600;

    @Override
    public Duration convert(String value) {
        try {
            return parse(value);
        } catch (IllegalArgumentException e) {
            throw new CommandLine.TypeConversionException(e.getMessage());
        }
    }

    /** @throws IllegalArgumentException when the text is not a time, negative, or beyond a week */
    public static Duration parse(String text) {
        String lower = text.trim().toLowerCase(Locale.ROOT);
        int end = 0;
        while (end < lower.length() && (Character.isDigit(lower.charAt(end)) || lower.charAt(end) == '.')) {
            end++;
        }
        double factor = switch (lower.substring(end)) {
            case "us" -> 1e-6;
            case "ms" -> 1e-3;
            case "", "s" -> 1;
            case "m", "min" -> 60;
            case "h" -> 3600;
            default -> throw refused(text);
        };
        double seconds;
        try {
            seconds = Double.parseDouble(lower.substring(0, end)) * factor;
        } catch (NumberFormatException e) {
            throw (IllegalArgumentException) refused(text).initCause(e);
        }
        if (seconds > MAX_SECONDS) {
            throw new IllegalArgumentException("\"" + text + "\" is more than a week");
        }
        return Duration.ofNanos(Math.round(seconds * 1e9));
    }

    /** Formats a time for people, with three or four digits: {@code 12.3 us}, {@code 4.56 ms}, {@code 7.89 s}. */
    public static String format(long nanos) {
        if (nanos < 1e6) {
            return String.format(Locale.ROOT, nanos < 1e5 ? "%.1f us" : "%.0f us", nanos / 1e3);
        }
        if (nanos < 1e9) {
            return String.format(Locale.ROOT, nanos < 1e8 ? "%.2f ms" : "%.0f ms", nanos / 1e6);
        }
        return String.format(Locale.ROOT, "%.2f s", nanos / 1e9);
    }

    private static IllegalArgumentException refused(String text) {
        return new IllegalArgumentException(
                "\"" + text + "\" is not a time: write a number with us, ms, s, m or h, such as 250ms or 5s");
    }
}
