// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

import io.netty.handler.codec.http.HttpRequest;
import java.util.Optional;

/** Answers the requests of an HTTPS server. */
public interface Responder {
    /** Returns the answer to a request whose body does not matter, or empty. Runs on the event loop. */
    Optional<Answer> refuse(HttpRequest head);

    /**
     * Answers a request. Runs in a virtual thread, and may wait.
     *
     * @throws IllegalArgumentException if the request is invalid; its message is the answer
     */
    Answer answer(HttpRequest head, byte[] body) throws InterruptedException;
}
