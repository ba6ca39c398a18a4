// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

/** Text of other processes and of peers for a terminal. */
public final class Printable {

    private Printable() {}

    /** The text with question marks in place of control characters, those of ISO 8859-1 (U+0080 to U+009F) too. */
    public static String of(String text) {
        return text.replaceAll("\\p{Cc}", "?");
    }
}
