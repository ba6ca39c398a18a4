// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.context;

import io.sidewarp.v1.OpenSessionResponse;

/** Takes the asynchronous events of a session. Called on the session's thread. */
@FunctionalInterface
public interface SessionEvents {

    void event(OpenSessionResponse event);
}
