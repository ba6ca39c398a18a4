// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

/** A pod is not admitted: there are too few devices, or the plugin refused the allocation. */
public final class AllocationException extends Exception {

    AllocationException(String message) {
        super(message);
    }

    AllocationException(String message, Throwable cause) {
        super(message, cause);
    }
}
