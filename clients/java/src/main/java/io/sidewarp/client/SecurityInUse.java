// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Protection of a connection that is in use. */
public enum SecurityInUse {
    PLAIN,
    /** TLS 1.3 below MPA, with verified certificates of both sides. */
    TLS,
    /** Not known: before the set-up, or from a sidecar without TLS. */
    UNKNOWN
}
