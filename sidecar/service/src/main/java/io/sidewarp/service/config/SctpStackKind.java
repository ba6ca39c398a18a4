// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.config;

/** Implementations of SCTP that a sidecar can use. */
public enum SctpStackKind {
    /** In user space, in UDP (RFC 6951). */
    UDP,
    /** The kernel's, directly on IP. */
    KERNEL
}
