// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Wish for TLS 1.3 below MPA, with certificates of both sides. The sidecar needs an identity for it. */
public enum Security {
    /** No TLS. */
    PLAIN,
    /**
     * TLS with a peer that speaks it, and none with other peers. Protects against an attacker that only reads.
     */
    PREFERRED,
    /** TLS, and no connection with a peer that does not speak it. */
    REQUIRED
}
