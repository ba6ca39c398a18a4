// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

/**
 * Retry settings of failed reconciliations. Retries never stop, because the cause of a failure can disappear without an
 * event that triggers a reconciliation.
 */
public final class Retries {
    /** Unlimited number of attempts. */
    public static final int FOR_EVER = -1;

    /** Largest time between two attempts. The time grows up to this value. */
    public static final long MAX_INTERVAL_MILLIS = 60_000;

    /**
     * Time after which a resource is reconciled without an event. The Java Operator SDK loses a change, also a deletion,
     * that it receives in the answer to a status that it writes.
     */
    public static final long LOST_EVENT_SECONDS = 60;

    private Retries() {}
}
