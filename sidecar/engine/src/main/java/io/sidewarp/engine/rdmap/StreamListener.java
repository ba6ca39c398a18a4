// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import org.jspecify.annotations.Nullable;

/** Learns what becomes of a stream, on its event loop. */
public interface StreamListener {

    /**
     * The stream's state changed.
     *
     * @param error what ended the stream, or null
     * @param message what happened, for people
     */
    void onStreamState(StreamState state, @Nullable StreamError error, String message);

    /** The peer's first message permits this side to send, which the lower layer forbade so far. */
    default void onOutputPermitted() {}
}
