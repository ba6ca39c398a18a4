// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Wish of one side for TLS 1.3 with certificates of both sides, below MPA. The strictest value comes first. */
public enum TlsUse {
    /** Uses TLS, and refuses a peer that does not. */
    REQUIRED,
    /**
     * Uses TLS with a peer that speaks it, and none with other peers. This protects against an attacker that only
     * reads, because an attacker that changes packets can make a peer look as if it spoke no TLS.
     */
    PREFERRED,
    /** Uses no TLS. */
    PLAIN;

    public boolean isWeakerThan(TlsUse other) {
        return ordinal() > other.ordinal();
    }
}
