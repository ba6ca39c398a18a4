// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

/** What an endpoint says about CRCs. They are used if either side declares that it needs them (RFC 5044 section 4.4). */
public enum CrcPolicy {
    /** C=1 is declared, and a peer that does not declare it too is refused. */
    REQUIRED,
    /** C=1 is declared: CRCs are used whatever the peer says. */
    PREFERRED,
    /** C=0 is declared: CRCs only if the peer needs them. For the administrator alone to choose. */
    REFUSED;

    /** C bit of this side's frame. */
    public boolean declared() {
        return this != REFUSED;
    }
}
