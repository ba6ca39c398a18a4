// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.Optional;

/**
 * A change of a connection's state, as the sidecar reported it.
 *
 * @param connection {@link Connection#id()}
 * @param state the new state
 * @param error error that ended the connection, if there is one
 * @param message what happened, for people
 */
public record ConnectionEvent(long connection, Connection.State state, Optional<RdmaErrorInfo> error, String message) {}
