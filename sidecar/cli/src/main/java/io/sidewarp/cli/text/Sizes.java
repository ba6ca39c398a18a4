// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import java.util.Locale;
import picocli.CommandLine;

/**
 * Sizes in bytes as people write them: {@code 64}, {@code 4K}, {@code 1M}, {@code 2GiB}. Suffixes are powers of 1024.
 */
public final class Sizes implements CommandLine.ITypeConverter<Long> {

    private static final String UNITS = "KMGT";

    @Override
    public Long convert(String value) {
        try {
            return parse(value);
        } catch (IllegalArgumentException e) {
            throw new CommandLine.TypeConversionException(e.getMessage());
        }
    }

    /**
     * Returns the bytes of a size.
     *
     * @throws IllegalArgumentException when the text is not a size, negative, or beyond 2^63 - 1
     */
    public static long parse(String text) {
        String upper = text.trim().toUpperCase(Locale.ROOT);
        String number = upper;
        if (number.endsWith("IB")) {
            number = number.substring(0, number.length() - 2);
        } else if (number.endsWith("B")) {
            number = number.substring(0, number.length() - 1);
        }
        int shift = 0;
        if (!number.isEmpty()) {
            int unit = UNITS.indexOf(number.charAt(number.length() - 1));
            if (unit >= 0) {
                shift = 10 * (unit + 1);
                number = number.substring(0, number.length() - 1);
            }
        }
        if (number.isEmpty() || !number.chars().allMatch(c -> c >= '0' && c <= '9') || number.length() > 18) {
            throw refused(text);
        }
        long value = Long.parseLong(number);
        if (value > Long.MAX_VALUE >> shift) {
            throw refused(text);
        }
        return value << shift;
    }

    /** Formats a size for people: exact for bytes and whole units, else with one decimal. */
    public static String format(long octets) {
        if (octets < 1024) {
            return octets + " B";
        }
        int unit = 0;
        double value = octets / 1024.0;
        while (value >= 1024 && unit < UNITS.length() - 1) {
            value /= 1024;
            unit++;
        }
        String number =
                value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.1f", value);
        return number + " " + UNITS.charAt(unit) + "iB";
    }

    private static IllegalArgumentException refused(String text) {
        return new IllegalArgumentException(
                "\"" + text + "\" is not a size: write bytes, with K, M, G or T for powers of 1024, such as 64 or 4K");
    }
}
