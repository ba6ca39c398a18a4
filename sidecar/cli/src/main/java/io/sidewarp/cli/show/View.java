// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import java.util.Locale;

/** A listing, for people and for programs. */
interface View {

    /** Returns the text. Each line has its line end. */
    String text();

    /** Returns an object for {@link io.sidewarp.cli.text.Json}. */
    Object json();

    /** Returns a constant of the client in plain words, for example "waiting-for-peer". */
    static String plain(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns an STag in the form that users write. */
    static String stag(int stag) {
        return String.format(Locale.ROOT, "0x%08x", stag);
    }
}
