// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** A queue, as seen by its session. */
interface SessionQueue extends WorkQueue {

    /** Sends requests that a batch holds back, because a later call waits for them. */
    void sendPosted();

    /** Records that a connection is closed, as the sidecar reported. */
    void connectionClosed(long connection);
}
