// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.verbs.StreamError;
import org.jspecify.annotations.Nullable;

/** Receives state changes of a stream, on its event loop. */
public interface StreamListener {

    /**
     * Reports that the state of the stream changed.
     *
     * @param error error that ended the stream, or null
     * @param message description of the event for people
     */
    void onStreamState(StreamState state, @Nullable StreamError error, String message);

    /** Reports that the peer's first message permits this side to send. The lower layer forbade sending until then. */
    default void onOutputPermitted() {}
}
