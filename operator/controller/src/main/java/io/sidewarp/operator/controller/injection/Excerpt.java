// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.sidewarp.common.LogText;
import java.util.Collection;
import java.util.stream.Collectors;

/**
 * Shortens foreign text in messages to a length that still helps to find the text. The API server validates a pod only
 * after the webhook, so a name in the pod can be any text of any length.
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

    /** Shortens a whole message. */
    static String message(String text) {
        return LogText.printable(text, MAX_MESSAGE);
    }
}
