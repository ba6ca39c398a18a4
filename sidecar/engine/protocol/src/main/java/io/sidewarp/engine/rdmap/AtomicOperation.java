// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

/** Atomic Operation Codes (RFC 7306 section 5.2.1, figure 5). All other values are reserved or unassigned. */
public final class AtomicOperation {

    public static final int FETCH_ADD = 0x0;
    public static final int CMP_SWAP = 0x2;

    private AtomicOperation() {}
}
