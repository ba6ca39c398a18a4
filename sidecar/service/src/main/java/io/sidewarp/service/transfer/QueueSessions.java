// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.service.peer.Peer;

/** Finds the session that a Queue call names. Thread-safe. */
@FunctionalInterface
public interface QueueSessions {

    /** The transfers of a session; a status when the peer has no such session. */
    SessionTransfers find(String token, Peer peer);
}
