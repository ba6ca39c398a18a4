// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Answers connection requests. Runs on an event loop and must not block; the answer may come later. */
@FunctionalInterface
public interface ConnectionRequestHandler {

    void onConnectionRequest(ConnectionRequest request);
}
