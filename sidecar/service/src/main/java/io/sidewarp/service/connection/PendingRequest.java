// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.sidewarp.engine.verbs.ConnectionRequest;

/** Connection request that waits for a decision, and the Listen call that reported it. */
record PendingRequest(ListenCall call, ConnectionRequest request) {}
