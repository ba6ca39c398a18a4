// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Decides about connection requests; called on an event loop, must not block, may answer later. */
@FunctionalInterface
public interface ConnectionRequestHandler {

    void onConnectionRequest(ConnectionRequest request);
}
