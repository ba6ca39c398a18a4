// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import java.util.Locale;

/** A listing, for people and for programs. */
interface View {

    /** Lines with their line ends. */
    String text();

    /** For {@link io.sidewarp.cli.text.Json}. */
    Object json();

    /** A constant of the API in plain words: CONNECTION_STATE_CLOSED becomes "closed" with CONNECTION_STATE_. */
    static String plain(Enum<?> constant, String prefix) {
        String name = constant.name();
        return (name.startsWith(prefix) ? name.substring(prefix.length()) : name)
                .toLowerCase(Locale.ROOT)
                .replace('_', '-');
    }

    /** An STag as users write it. */
    static String stag(int stag) {
        return String.format(Locale.ROOT, "0x%08x", stag);
    }
}
