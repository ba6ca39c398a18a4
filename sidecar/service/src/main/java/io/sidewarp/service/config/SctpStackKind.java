// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.config;

/** SCTP implementations that a sidecar can use. */
public enum SctpStackKind {
    /** User-space SCTP, encapsulated in UDP (RFC 6951). */
    UDP,
    /** SCTP of the kernel, directly on IP. */
    KERNEL
}
