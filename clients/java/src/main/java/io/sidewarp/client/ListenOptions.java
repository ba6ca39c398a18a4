// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Options of a listener.
 *
 * @param llp lower layer protocol
 * @param backlog connection requests that may wait for a decision; 0 for the sidecar's default
 * @param connections requirements for a peer's start-up, and defaults for options that accept does not set; its private
 *     data has no effect
 */
public record ListenOptions(LowerLayerProtocol llp, int backlog, ConnectionOptions connections) {

    public static ListenOptions defaults() {
        return new ListenOptions(LowerLayerProtocol.TCP, 0, ConnectionOptions.defaults());
    }

    public ListenOptions withLlp(LowerLayerProtocol value) {
        return new ListenOptions(value, backlog, connections);
    }

    public ListenOptions withBacklog(int value) {
        return new ListenOptions(llp, value, connections);
    }

    public ListenOptions withConnections(ConnectionOptions value) {
        return new ListenOptions(llp, backlog, value);
    }
}
