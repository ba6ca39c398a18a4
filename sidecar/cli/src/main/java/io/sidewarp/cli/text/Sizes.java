// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;

/**
 * Sizes in bytes as people write them: {@code 64}, {@code 4K}, {@code 1M}, {@code 2GiB}. Suffixes are powers of 1024.
 */
public final class Sizes implements CommandLine.ITypeConverter<Long> {

    private static final String UNITS = "KMGT";
    private static final Pattern FORM = Pattern.compile("(?<number>[0-9]{1,18})(?<unit>[" + UNITS + "])?(I?B)?");

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
        Matcher matcher = FORM.matcher(text.trim().toUpperCase(Locale.ROOT));
        if (matcher.matches()) {
            long number = Long.parseLong(matcher.group("number"));
            int shift = matcher.group("unit") == null ? 0 : 10 * (UNITS.indexOf(matcher.group("unit")) + 1);
            if (number <= Long.MAX_VALUE >> shift) {
                return number << shift;
            }
        }
        throw new IllegalArgumentException(
                "\"" + text + "\" is not a size: write bytes, with K, M, G or T for powers of 1024, such as 64 or 4K");
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
}
