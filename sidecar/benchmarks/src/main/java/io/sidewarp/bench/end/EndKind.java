// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import io.sidewarp.bench.end.engine.EngineActiveEnd;
import io.sidewarp.bench.end.engine.EnginePassiveEnd;
import io.sidewarp.bench.end.peer.GrpcActiveEnd;
import io.sidewarp.bench.end.peer.GrpcPassiveEnd;
import io.sidewarp.bench.end.peer.LimitActiveEnd;
import io.sidewarp.bench.end.peer.LimitPassiveEnd;
import io.sidewarp.bench.end.peer.NioActiveEnd;
import io.sidewarp.bench.end.peer.NioPassiveEnd;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Programs whose two ends run in JVMs of their own. */
public enum EndKind {

    /** Sidewarp's engine as a library. */
    ENGINE("engine"),

    /** Bare socket channels of the JDK. */
    NIO("nio"),

    /** Streaming calls of grpc-java. */
    GRPC("grpc-java"),

    /** Bare TCP with the copies and CRCs that an engine cannot do without. */
    LIMIT("limit");

    private final String program;

    EndKind(String program) {
        this.program = program;
    }

    /** Returns the name of the program in results. */
    public String program() {
        return program;
    }

    PassiveEnd listen(TransferPlan plan, InetAddress address) throws Exception {
        return switch (this) {
            case ENGINE -> new EnginePassiveEnd(plan, address);
            case NIO -> new NioPassiveEnd(plan, address);
            case GRPC -> new GrpcPassiveEnd(address);
            case LIMIT -> new LimitPassiveEnd(plan, address);
        };
    }

    /** Connects to the address where the passive end listens. */
    ActiveEnd connect(TransferPlan plan, InetSocketAddress peer) throws Exception {
        return switch (this) {
            case ENGINE -> new EngineActiveEnd(plan, peer);
            case NIO -> new NioActiveEnd(plan, peer);
            case GRPC -> new GrpcActiveEnd(plan, peer);
            case LIMIT -> new LimitActiveEnd(plan, peer);
        };
    }
}
