// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import java.lang.System.Logger.Level;

/** Opens a queue on the path that its options name, or on the first that is possible. */
final class QueueOpener {

    private static final System.Logger LOG = System.getLogger(QueueOpener.class.getName());

    private QueueOpener() {}

    static WorkQueue open(GrpcSession session, QueueOptions options) {
        return switch (options.path()) {
            case GRPC -> overGrpc(session, options);
            case RINGS -> RingWorkQueue.open(session, options);
            case ANY -> {
                try {
                    yield RingWorkQueue.open(session, options);
                } catch (SidewarpException e) {
                    if (e.code() != Status.Code.UNIMPLEMENTED && e.code() != Status.Code.FAILED_PRECONDITION) {
                        throw e;
                    }
                    LOG.log(Level.DEBUG, () -> "a queue uses gRPC instead of rings: " + e.getMessage());
                    yield overGrpc(session, options);
                }
            }
        };
    }

    private static WorkQueue overGrpc(GrpcSession session, QueueOptions options) {
        return GrpcWorkQueue.open(session, options.outstanding());
    }
}
