// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/** Result of a validation by {@link TaggedAccess}. Each layer maps it to its own error codes. */
public enum AccessCheck {
    OK,
    /** No such STag, or it is no longer valid. */
    INVALID_STAG,
    /** The STag belongs to another protection domain or another stream. */
    NOT_ASSOCIATED,
    /** The region does not give the right. */
    NO_RIGHT,
    /** Some byte lies outside of the region. */
    BOUNDS,
    /** Tagged offset plus length exceeds 2^64. */
    WRAP
}
