// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

/** Makes text of other processes and of peers safe for a terminal. */
public final class Printable {

    private Printable() {}

    /** Replaces control characters by question marks, including those of ISO 8859-1 (U+0080 to U+009F). */
    public static String of(String text) {
        return text.replaceAll("\\p{Cc}", "?");
    }
}
