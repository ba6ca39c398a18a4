// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/** Result of a check by {@link TaggedAccess}. Each layer maps the result to its own error codes. */
public enum AccessCheck {
    OK,
    /** The STag is unknown or no longer valid. */
    INVALID_STAG,
    /** The STag belongs to another protection domain or another stream. */
    NOT_ASSOCIATED,
    /** The region does not grant the right. */
    NO_RIGHT,
    /** At least one byte lies outside the region. */
    BOUNDS,
    /** Tagged offset plus length exceeds 2^64. */
    WRAP
}
