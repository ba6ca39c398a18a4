// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.end.Waiting;
import java.util.List;

/** Plans that several parts have. */
final class Plans {

    static final int KIB = 1024;
    static final int MIB = KIB * KIB;

    /** Bytes of a small message. */
    static final int SMALL = 8;

    static final List<Operation> OPERATIONS = List.of(Operation.WRITE, Operation.READ);

    static final Step SMALL_STREAM = new Step(64, 128);
    static final Step PAGES = new Step(4 * KIB, 64);
    static final Step MIDDLE = new Step(64 * KIB, 16);
    static final Step LARGE = new Step(MIB, 8);

    private static final int MOST_UNSIGNALED_BY_ENGINES = 16;
    private static final int MOST_UNSIGNALED = 64;

    /** Message size of a stream, and the number of messages in flight. */
    record Step(int size, int depth) {

        /** Returns a plan between engines: a completion for a quarter of the depth, and for 16 messages at most. */
        TransferPlan engine(Operation operation) {
            return TransferPlan.stream(operation, size, depth)
                    .withSignal(Math.clamp(depth / 4, 1, MOST_UNSIGNALED_BY_ENGINES));
        }

        /** Returns a plan between applications: a completion for half of the depth, as {@code sidewarp perf} has it. */
        TransferPlan application(Operation operation) {
            return TransferPlan.stream(operation, size, depth).withSignal(Math.clamp(depth / 2, 1, MOST_UNSIGNALED));
        }
    }

    private Plans() {}

    /** Returns the plans of steps between applications, Writes and Reads. */
    static List<TransferPlan> applications(List<Step> steps) {
        return OPERATIONS.stream()
                .flatMap(operation -> steps.stream().map(step -> step.application(operation)))
                .toList();
    }

    /** Returns the plans of steps between engines, Writes and Reads. */
    static List<TransferPlan> engines(List<Step> steps) {
        return OPERATIONS.stream()
                .flatMap(operation -> steps.stream().map(step -> step.engine(operation)))
                .toList();
    }

    /** Returns the plan of one small message at a time. */
    static TransferPlan small(Operation operation, Waiting waiting) {
        return TransferPlan.pingPong(operation, SMALL, waiting);
    }

    /** Returns a plan for one stream of a program without RDMA. */
    static TransferPlan peer(int size) {
        return TransferPlan.stream(Operation.SEND, size, 1).withWaiting(Waiting.SLEEP);
    }
}
