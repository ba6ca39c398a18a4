// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

/** This machine cannot run an API server. The message says why, and what to do. */
public final class KubeUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    KubeUnavailableException(String why) {
        super(why);
    }
}
