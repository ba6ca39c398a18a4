// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

/**
 * How reconciliations that fail are tried again. What refuses them may be mended without any event that would have them done:
 * they are never given up.
 */
public final class Retries {
    /** No number of attempts is the last one. */
    public static final int FOR_EVER = -1;

    /** The time between two attempts grows to this. */
    public static final long MAX_INTERVAL_MILLIS = 60_000;

    private Retries() {}
}
