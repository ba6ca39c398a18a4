// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Writes JSON of maps (objects, in their order), lists, strings, numbers and booleans. Numbers that are not finite
 * become {@code null}.
 */
public final class Json {

    private Json() {}

    /** Returns one line, without a line end. */
    public static String write(Object value) {
        StringBuilder text = new StringBuilder();
        append(text, value);
        return text.toString();
    }

    private static void append(StringBuilder text, Object value) {
        switch (value) {
            case Map<?, ?> map -> {
                String separator = "{";
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    text.append(separator);
                    quote(text, String.valueOf(entry.getKey()));
                    text.append(':');
                    append(text, entry.getValue());
                    separator = ",";
                }
                text.append(map.isEmpty() ? "{}" : "}");
            }
            case List<?> list -> {
                String separator = "[";
                for (Object element : list) {
                    text.append(separator);
                    append(text, element);
                    separator = ",";
                }
                text.append(list.isEmpty() ? "[]" : "]");
            }
            case Double number -> text.append(real(number));
            case Number number -> text.append(number);
            case Boolean truth -> text.append(truth);
            default -> quote(text, String.valueOf(value));
        }
    }

    /** Writes six significant digits, because measurements have no more. */
    private static String real(double number) {
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            return "null";
        }
        if (number == Math.rint(number) && Math.abs(number) < 1e15) {
            return Long.toString((long) number);
        }
        double digits = Math.ceil(Math.log10(Math.abs(number)));
        int decimals = (int) Math.clamp(6 - digits, 0, 12);
        return String.format(Locale.ROOT, "%." + decimals + "f", number);
    }

    private static void quote(StringBuilder text, String string) {
        text.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            switch (c) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                case '\t' -> text.append("\\t");
                default -> {
                    if (c < ' ' || c == 0x7F || Character.isSurrogate(c)) {
                        text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }
}
