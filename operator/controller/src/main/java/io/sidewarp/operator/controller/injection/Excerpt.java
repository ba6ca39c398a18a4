// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.sidewarp.operator.api.log.LogText;
import java.util.Collection;
import java.util.stream.Collectors;

/**
 * What messages show of the text of others: as much as helps to find it. The API server looks at a pod only after the webhook, so
 * that a name of it may be any text of any length.
 */
final class Excerpt {
    private static final int MAX = 100;
    private static final int MAX_NAMES = 10;
    private static final int MAX_MESSAGE = 1000;

    private Excerpt() {}

    static String of(String text) {
        return LogText.printable(text, MAX);
    }

    static String quoted(String text) {
        return '"' + of(text) + '"';
    }

    static String names(Collection<String> names) {
        String first = names.stream().limit(MAX_NAMES).map(Excerpt::of).collect(Collectors.joining(", "));
        return names.size() > MAX_NAMES ? first + " and " + (names.size() - MAX_NAMES) + " more" : first;
    }

    /** A whole message, whatever it consists of. */
    static String message(String text) {
        return LogText.printable(text, MAX_MESSAGE);
    }
}
