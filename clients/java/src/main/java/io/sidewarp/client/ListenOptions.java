// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.Llp;

/**
 * Options of a listener.
 *
 * @param llp lower layer; LLP_UNSPECIFIED for LLP_TCP
 * @param backlog connection requests that may wait for a decision; 0 for the sidecar's default
 * @param connections requirements for a peer's start-up, and defaults for options that accept does not set; its private
 *     data has no effect
 */
public record ListenOptions(Llp llp, int backlog, ConnectionOptions connections) {

    public static ListenOptions defaults() {
        return new ListenOptions(Llp.LLP_UNSPECIFIED, 0, ConnectionOptions.defaults());
    }

    public ListenOptions withLlp(Llp value) {
        return new ListenOptions(value, backlog, connections);
    }

    public ListenOptions withBacklog(int value) {
        return new ListenOptions(llp, value, connections);
    }

    public ListenOptions withConnections(ConnectionOptions value) {
        return new ListenOptions(llp, backlog, value);
    }
}
