// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

/** There can be no API server on this machine; the message says why, and what to do. */
public final class KubeUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    KubeUnavailableException(String why) {
        super(why);
    }
}
