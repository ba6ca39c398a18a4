// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.context;

/** Responses to a client, over any transport. Confined to the session's thread. */
public interface Responses<R> {

    /** Returns whether the transport accepts another response. */
    boolean isReady();

    /** Returns whether the client wants this response. Other responses are dropped before they wait for the client. */
    default boolean wants(R response) {
        return true;
    }

    void onNext(R response);

    /** Ends the responses with a failure. */
    void onError(Throwable failure);

    /** Ends the responses. */
    void onCompleted();
}
