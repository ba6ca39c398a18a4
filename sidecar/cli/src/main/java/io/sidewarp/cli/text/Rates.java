// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import java.util.Locale;

/** Rates as people read them: three digits and a decimal prefix. */
public final class Rates {

    private static final String PREFIXES = "kMGT";

    private Rates() {}

    /** Formats bits per second: {@code 940 bit/s}, {@code 12.3 Gbit/s}. An unknown rate (NaN) is {@code -}. */
    public static String bits(double bits) {
        return format(bits, "bit/s");
    }

    /** Formats a number per second: {@code 0.25 /s}, {@code 1.23 M/s}. An unknown rate (NaN) is {@code -}. */
    public static String number(double number) {
        return format(number, "/s");
    }

    private static String format(double rate, String unit) {
        if (Double.isNaN(rate)) {
            return "-";
        }
        int prefix = -1;
        double value = rate;
        // 999.5 would be rounded to four digits.
        while (value >= 999.5 && prefix < PREFIXES.length() - 1) {
            value /= 1000;
            prefix++;
        }
        int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
        boolean whole = value == Math.rint(value) && prefix < 0;
        String number = whole ? Long.toString((long) value) : String.format(Locale.ROOT, "%." + decimals + "f", value);
        return number + " " + (prefix < 0 ? "" : PREFIXES.charAt(prefix)) + unit;
    }
}
