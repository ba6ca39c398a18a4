// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Lower layer protocols. */
public enum Llp {
    /** MPA on TCP (RFC 5044). */
    TCP,
    /** The DDP adaptation on SCTP (RFC 5043). */
    SCTP
}
