// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

/** How messages follow each other. */
public enum Mode {
    /** As many as go, a given number being under way. */
    STREAM,
    /** One there and one back; of a Read, one at a time. */
    PING_PONG
}
