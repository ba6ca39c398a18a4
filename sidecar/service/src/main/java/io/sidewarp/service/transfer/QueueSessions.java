// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.service.peer.Peer;

/** Finds the session that a Queue call names. Thread-safe. */
@FunctionalInterface
public interface QueueSessions {

    /** Returns the transfers of a session. Fails with a status if the peer has no such session. */
    SessionTransfers find(String token, Peer peer);
}
