// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

/** A claim is not prepared: no driver is registered, or the driver refuses. A kubelet tries again, and the pod waits. */
public final class ClaimException extends Exception {

    ClaimException(String message) {
        super(message);
    }

    ClaimException(String message, Throwable cause) {
        super(message, cause);
    }
}
