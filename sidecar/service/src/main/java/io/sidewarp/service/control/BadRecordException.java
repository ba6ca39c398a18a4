// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import java.io.Serial;

/** Reports a record that breaks a rule of its layout. Its message says which field, and what is allowed there. */
final class BadRecordException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    BadRecordException(String message) {
        super(message, null, false, false);
    }
}
