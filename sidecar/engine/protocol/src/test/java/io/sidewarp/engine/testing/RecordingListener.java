// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.rdmap.StreamListener;
import io.sidewarp.engine.rdmap.StreamState;
import io.sidewarp.engine.verbs.StreamError;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Records the notifications of a stream. */
public final class RecordingListener implements StreamListener {

    private final List<StreamState> states = new ArrayList<>();
    private final List<StreamError> errors = new ArrayList<>();
    private final List<String> messages = new ArrayList<>();
    private Runnable onChange = () -> {};

    /** Called at each change. */
    public void onEachChange(Runnable action) {
        onChange = action;
    }

    @Override
    public void onStreamState(StreamState state, @Nullable StreamError error, String message) {
        states.add(state);
        if (error != null) {
            errors.add(error);
        }
        messages.add(message);
        onChange.run();
    }

    /** States in the order in which they were entered. */
    public List<StreamState> states() {
        return states;
    }

    /** Errors that came with the states. */
    public List<StreamError> errors() {
        return errors;
    }

    /** Returns the messages for people. */
    public List<String> messages() {
        return messages;
    }
}
