// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

/** An image cannot be made or pushed. The message says why, and what to do. */
final class ImageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ImageException(String message) {
        super(message);
    }

    ImageException(String message, Throwable cause) {
        super(message, cause);
    }
}
