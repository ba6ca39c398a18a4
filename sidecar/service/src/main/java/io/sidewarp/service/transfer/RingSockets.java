// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

/** Unix socket through which the owners of rings wake each other. Thread-safe. */
public interface RingSockets {

    /** Returns the name of the socket, in the directory of the API's socket. */
    String name();

    /** Returns a token. The first connection that sends it gets the ring. */
    byte[] expect(CompletionRing ring);

    /** Forgets an unused token. */
    void forget(byte[] token);
}
