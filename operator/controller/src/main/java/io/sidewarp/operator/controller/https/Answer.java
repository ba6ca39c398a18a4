// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Answer to a request.
 *
 * @param status status code of HTTP
 * @param type media type of the body
 * @param retryAfter time after which the client should ask again; zero for none
 */
public record Answer(int status, String type, byte[] body, Duration retryAfter) {

    /** Returns a successful answer of JSON. */
    public static Answer json(byte[] body) {
        return new Answer(200, "application/json", body, Duration.ZERO);
    }

    /** Returns an answer of one line of text. */
    public static Answer text(int status, @Nullable String text) {
        return text(status, text, Duration.ZERO);
    }

    /** Returns an answer of one line of text, after which the client should ask again. */
    public static Answer text(int status, @Nullable String text, Duration retryAfter) {
        return new Answer(status, "text/plain", (text + "\n").getBytes(StandardCharsets.UTF_8), retryAfter);
    }
}
