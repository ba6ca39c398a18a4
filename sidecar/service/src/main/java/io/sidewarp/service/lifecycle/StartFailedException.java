// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import org.jspecify.annotations.Nullable;

/** Thrown if the sidecar cannot start. The message names the cause and the remedy. */
public final class StartFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StartFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
