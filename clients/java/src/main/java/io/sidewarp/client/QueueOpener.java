// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.lang.System.Logger.Level;

/** Opens a queue on the path that its options name, or on the first possible path. */
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
                    // Rings are not possible here (DEBUG), or they are possible and there is no space for them
                    // (WARNING).
                    Level level = switch (e.code()) {
                        case UNIMPLEMENTED, FAILED_PRECONDITION -> Level.DEBUG;
                        case RESOURCE_EXHAUSTED -> Level.WARNING;
                        default -> throw e;
                    };
                    LOG.log(level, () -> "a queue uses gRPC instead of rings: " + e.getMessage());
                    yield overGrpc(session, options);
                }
            }
        };
    }

    private static WorkQueue overGrpc(GrpcSession session, QueueOptions options) {
        return GrpcWorkQueue.open(session, options.outstanding());
    }
}
