// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.netty.handler.codec.http.HttpHeaders;

/** Decides about reviews. */
@FunctionalInterface
interface Reviewer {
    /**
     * Answers an AdmissionReview. Review and answer are JSON.
     *
     * @throws IllegalArgumentException if the review is invalid
     */
    byte[] review(HttpHeaders headers, byte[] review) throws InterruptedException;
}
