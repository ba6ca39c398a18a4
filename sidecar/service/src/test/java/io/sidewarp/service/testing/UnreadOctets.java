// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.grpc.Status;
import io.sidewarp.service.peer.AnswerQuota;

/** Octets of answers that are not read, of which there may be so many. */
public final class UnreadOctets implements AnswerQuota {

    private long limit = Long.MAX_VALUE;
    private long held;

    public void limit(long most) {
        limit = most;
    }

    public long held() {
        return held;
    }

    @Override
    public void takeAnswerOctets(long octets) {
        if (octets > limit - held) {
            throw Status.RESOURCE_EXHAUSTED.asRuntimeException();
        }
        held += octets;
    }

    @Override
    public void giveAnswerOctets(long octets) {
        held -= octets;
    }
}
