// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** CRC policy of an endpoint. Both sides use CRCs if either side declares that it needs them (RFC 5044 section 4.4). */
public enum CrcPolicy {
    /** Declares C=1, and refuses a peer that does not declare C=1 as well. */
    REQUIRED,
    /** Declares C=1. CRCs are used whatever the peer declares. */
    PREFERRED,
    /** Declares C=0. CRCs are used only if the peer needs them. Only the administrator may choose this policy. */
    REFUSED;

    /** Returns the C bit of this side's frame. */
    public boolean declared() {
        return this != REFUSED;
    }
}
