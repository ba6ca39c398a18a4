// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

/** Side of MPA start-up that an endpoint takes. Independent of who opened the TCP connection (RFC 5044 section 7.1). */
public enum MpaRole {
    /** Sends the MPA Request Frame. */
    INITIATOR,
    /** Waits for an MPA Request Frame and answers it with an MPA Reply Frame. */
    RESPONDER
}
