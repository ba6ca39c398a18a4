// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import io.sidewarp.bench.end.copy.CopyEnd;
import io.sidewarp.bench.end.engine.EngineActiveEnd;
import io.sidewarp.bench.end.engine.EnginePassiveEnd;
import io.sidewarp.bench.end.grpc.GrpcActiveEnd;
import io.sidewarp.bench.end.grpc.GrpcPassiveEnd;
import io.sidewarp.bench.end.limit.LimitActiveEnd;
import io.sidewarp.bench.end.limit.LimitPassiveEnd;
import io.sidewarp.bench.end.line.LineActiveEnd;
import io.sidewarp.bench.end.line.LinePassiveEnd;
import io.sidewarp.bench.end.nio.NioActiveEnd;
import io.sidewarp.bench.end.nio.NioPassiveEnd;
import java.net.InetAddress;

/** Programs that an end can be. */
public enum EndKind {
    /** Sidewarp's engine as a library. */
    ENGINE,
    /** Bare socket channels of the JDK. */
    NIO,
    /** Streaming calls of grpc-java. */
    GRPC,
    /** Copies in memory: the active end alone does something. */
    COPY,
    /** One cache line between the processors of the ends. */
    LINE,
    /** Bare TCP with the copies and CRCs that an engine cannot do without. */
    LIMIT;

    /** @param address where it listens */
    PassiveEnd passive(InetAddress address) {
        return switch (this) {
            case ENGINE -> new EnginePassiveEnd(address);
            case NIO -> new NioPassiveEnd(address);
            case GRPC -> new GrpcPassiveEnd(address);
            case COPY -> new CopyEnd.Idle();
            case LINE -> new LinePassiveEnd();
            case LIMIT -> new LimitPassiveEnd(address);
        };
    }

    /** @param peer address of the passive end */
    ActiveEnd active(InetAddress peer) {
        return switch (this) {
            case ENGINE -> new EngineActiveEnd(peer);
            case NIO -> new NioActiveEnd(peer);
            case GRPC -> new GrpcActiveEnd(peer);
            case COPY -> new CopyEnd();
            case LINE -> new LineActiveEnd();
            case LIMIT -> new LimitActiveEnd(peer);
        };
    }
}
