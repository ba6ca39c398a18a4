// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.process.Certificates;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests both ends of each kind in one process. */
@Timeout(120)
class EndsTest {

    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    @TempDir
    private static Path directory;

    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private static Stream<Arguments> plans() {
        String identity = Certificates.make(directory).directory().toString();
        TransferPlan write = TransferPlan.stream(Operation.WRITE, 4096, 8);
        TransferPlan read = TransferPlan.stream(Operation.READ, 4096, 8);
        TransferPlan send = TransferPlan.stream(Operation.SEND, 4096, 1).withWaiting(Waiting.SLEEP);
        return Stream.of(
                arguments(EndKind.ENGINE, write),
                arguments(EndKind.ENGINE, write.withSignal(4)),
                arguments(EndKind.ENGINE, write.withConnections(3).withCrc(false)),
                arguments(EndKind.ENGINE, write.withMarkers(true)),
                arguments(EndKind.ENGINE, write.withIdle(100)),
                arguments(EndKind.ENGINE, write.withWaiting(Waiting.YIELD)),
                arguments(EndKind.ENGINE, write.withWaiting(Waiting.SPIN)),
                arguments(EndKind.ENGINE, read),
                arguments(EndKind.ENGINE, read.withConnections(3).withSignal(2)),
                arguments(EndKind.ENGINE, TransferPlan.pingPong(Operation.WRITE, 8, Waiting.SPIN)),
                arguments(EndKind.ENGINE, TransferPlan.pingPong(Operation.WRITE, 8, Waiting.YIELD)),
                arguments(EndKind.ENGINE, TransferPlan.pingPong(Operation.READ, 8, Waiting.SLEEP)),
                arguments(EndKind.ENGINE, TransferPlan.pingPong(Operation.SEND, 8, Waiting.SLEEP)),
                arguments(EndKind.ENGINE, TransferPlan.pingPong(Operation.SEND, 8, Waiting.ADAPTIVE)),
                arguments(EndKind.NIO, send),
                arguments(EndKind.NIO, TransferPlan.pingPong(Operation.SEND, 8, Waiting.SPIN)),
                arguments(EndKind.NIO, TransferPlan.pingPong(Operation.SEND, 8, Waiting.SLEEP)),
                arguments(EndKind.GRPC, send),
                arguments(EndKind.GRPC, TransferPlan.pingPong(Operation.SEND, 8, Waiting.SLEEP)),
                arguments(EndKind.LIMIT, write),
                arguments(EndKind.LIMIT, TransferPlan.stream(Operation.WRITE, 1 << 20, 8)),
                arguments(
                        EndKind.LIMIT,
                        TransferPlan.stream(Operation.WRITE, 1 << 16, 16).withCrc(false)),
                arguments(
                        EndKind.LIMIT,
                        TransferPlan.stream(Operation.WRITE, 1 << 16, 16).withTls(identity)),
                arguments(EndKind.ENGINE, write.withTls(identity)),
                arguments(EndKind.ENGINE, write.withTls(identity).withCrc(false).withIdle(20)),
                arguments(
                        EndKind.ENGINE,
                        TransferPlan.pingPong(Operation.WRITE, 8, Waiting.SPIN).withTls(identity)),
                arguments(
                        EndKind.LIMIT,
                        TransferPlan.stream(Operation.WRITE, 1 << 16, 16).withWaiting(Waiting.SPIN)));
    }

    @ParameterizedTest
    @MethodSource("plans")
    void aPlanRunsAnyNumberOfTimes(EndKind kind, TransferPlan plan) throws Exception {
        try (PassiveEnd passive = kind.listen(plan, LOOPBACK);
                ActiveEnd active = kind.connect(plan, address(passive))) {
            for (int run = 0; run < 2; run++) {
                DutyOutcome outcome = active.run(NANOS);

                assertThat(outcome.nanos()).isGreaterThanOrEqualTo(NANOS);
                assertThat(outcome.messages()).isPositive();
                if (plan.mode() == TransferPlan.Mode.PING_PONG) {
                    assertThat(outcome.latency().p50())
                            .isPositive()
                            .isLessThanOrEqualTo(outcome.latency().p99());
                }
            }
        }
    }

    @Test
    void aProcessTakesOnePlanAfterTheOther() throws Exception {
        for (Operation operation : Operation.values()) {
            TransferPlan plan = TransferPlan.pingPong(operation, 8, Waiting.YIELD);
            try (PassiveEnd passive = EndKind.ENGINE.listen(plan, LOOPBACK);
                    ActiveEnd active = EndKind.ENGINE.connect(plan, address(passive))) {
                assertThat(active.run(NANOS).messages()).isPositive();
            }
        }
    }

    @Test
    void whoWatchesMemoryCannotSleep() throws Exception {
        TransferPlan plan = TransferPlan.pingPong(Operation.WRITE, 8, Waiting.SLEEP);
        try (PassiveEnd passive = EndKind.ENGINE.listen(plan, LOOPBACK);
                ActiveEnd active = EndKind.ENGINE.connect(plan, address(passive))) {
            assertThatThrownBy(() -> active.run(NANOS)).hasMessageContaining("let it spin or yield");
        }
    }

    private static InetSocketAddress address(PassiveEnd passive) {
        return new InetSocketAddress(LOOPBACK, passive.port());
    }
}
