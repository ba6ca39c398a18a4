// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.StatusRuntimeException;

/** Octets of large answers that callers did not read, of one connection with the API. */
public interface AnswerQuota {

    /**
     * Takes octets of a large answer.
     *
     * @throws StatusRuntimeException RESOURCE_EXHAUSTED, and then nothing is taken
     */
    void takeAnswerOctets(long octets);

    /** Gives octets back that were taken. */
    void giveAnswerOctets(long octets);
}
