// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Lower layer protocol (LLP) that carries DDP. */
public enum LowerLayerProtocol {
    /** MPA on TCP (RFC 5044). */
    TCP,
    /** DDP adaptation on SCTP (RFC 5043). Not every sidecar has it: see {@link RdmaDeviceInfo#llps}. */
    SCTP
}
