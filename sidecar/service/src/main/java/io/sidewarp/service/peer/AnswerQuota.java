// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Context;
import io.grpc.StatusRuntimeException;

/** What one call has of the octets of large answers that callers did not read. */
public interface AnswerQuota {

    /** Of the call that runs. */
    Context.Key<AnswerQuota> CONTEXT = Context.key("sidewarp-answer-octets");

    /**
     * Takes octets. What is not given back is, when nothing of the call is left.
     *
     * @throws StatusRuntimeException RESOURCE_EXHAUSTED, and then nothing is taken
     */
    void takeAnswerOctets(long octets);

    /** Gives octets back that were taken. */
    void giveAnswerOctets(long octets);
}
