// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/** States of a region. Only VALID regions may be used. */
public enum RegionState {
    VALID,
    /** The STag was invalidated, by the peer or by the application. */
    INVALIDATED,
    /** The backing failed, for instance because its shared file was truncated. */
    FAULTED,
    /** The application deregistered the region. */
    DEREGISTERED
}
