// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;

/**
 * A connection of a plan.
 *
 * @param peer the memory at the other end
 */
record Link(EngineEnd end, QueuePair queuePair, PeerMemory peer) {

    /**
     * Posts a Write or a Read between this end's region and that of the peer.
     *
     * @param request object to fill
     * @param local offset in this end's region
     * @param remote offset in the peer's region
     */
    void transfer(Wr request, WrOpcode opcode, long id, long local, long remote, int length, boolean signaled) {
        request.reset(id, opcode)
                .addSge(end.region(), local, length)
                .remote(peer.stag(), peer.taggedOffset() + remote)
                .signaled(signaled);
        EngineEnd.require(queuePair.postSend(request));
    }
}
