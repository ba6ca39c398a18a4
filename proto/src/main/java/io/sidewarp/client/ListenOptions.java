// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.Llp;

/**
 * What is asked of a listener.
 *
 * @param llp lower layer; LLP_UNSPECIFIED for LLP_TCP
 * @param backlog connection requests that may wait for a decision; 0 for the sidecar's default
 * @param connections what a peer's start-up must meet, and what a connection gets where accept does not say; its private
 *     data does not count
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
