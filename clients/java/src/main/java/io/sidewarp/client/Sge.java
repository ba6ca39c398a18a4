// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * A part of a local region: one element of a gather or scatter list. {@link Region#slice} makes elements with checked
 * bounds.
 *
 * @param region the region's id
 * @param offset bytes from the beginning of the region (not a tagged offset)
 * @param length bytes, at most 2^32 - 1 over all elements of a work request
 */
public record Sge(long region, long offset, long length) {

    public Sge {
        if (offset < 0 || length < 0) {
            throw new IllegalArgumentException("offset and length must not be negative: " + offset + ", " + length);
        }
    }
}
