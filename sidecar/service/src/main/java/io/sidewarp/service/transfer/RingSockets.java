// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

/** The Unix socket by which the owners of rings wake each other. Thread-safe. */
public interface RingSockets {

    /** Returns the name of the socket, in the directory of the API's socket. */
    String name();

    /** Returns a token; the first connection that carries it gets the ring. */
    byte[] expect(CompletionRing ring);

    /** Forgets a token that nobody used. */
    void forget(byte[] token);
}
