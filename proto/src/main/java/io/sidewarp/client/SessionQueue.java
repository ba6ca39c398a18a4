// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** A queue as its session sees it. */
interface SessionQueue extends WorkQueue {

    /** Sends what a batch keeps back: a call that follows waits for it. */
    void sendPosted();

    /** The sidecar told that a connection is closed. */
    void connectionClosed(long connection);
}
