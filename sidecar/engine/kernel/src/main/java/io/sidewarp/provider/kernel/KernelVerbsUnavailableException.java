// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import org.jspecify.annotations.Nullable;

/** Reports that this machine or container lacks something that kernel verbs need. The message says what to do. */
public final class KernelVerbsUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public KernelVerbsUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
