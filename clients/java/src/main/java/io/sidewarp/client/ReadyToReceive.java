// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Kind of ready-to-receive indication in the peer-to-peer model (RFC 6581 section 9.2). All kinds have no payload and
 * no completion.
 */
public enum ReadyToReceive {
    WRITE,
    READ,
    SEND
}
