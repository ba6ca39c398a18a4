// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sidewarp.bench.end.Usage;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.cli.Failure;
import io.sidewarp.client.QueuePath;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SidecarPairTest {

    private static final String LINE = "{\"version\":1,\"operation\":\"write\",\"mode\":\"throughput\",\"size\":65536,"
            + "\"depth\":16,\"signal\":1,\"gigabits_per_second\":6.5,\"messages_per_second\":12385,"
            + "\"latency_microseconds\":{\"kind\":\"completion\",\"p50\":10,\"p99\":20,\"p99_9\":30},"
            + "\"cpu_seconds_per_gib\":{\"client\":0.1,\"client_sidecar\":0.7,\"server\":0.2,\"server_sidecar\":0.5},"
            + "\"connection\":{\"crc\":true}}";

    @Test
    void addsUpTheProcessesOfEachEnd() {
        Map<Metric, Double> figures = SidecarPair.parse(LINE);

        assertThat(figures.get(Metric.ACTIVE_CPU_SECONDS_PER_GIB)).isCloseTo(0.8, within(1e-9));
        assertThat(figures.get(Metric.PASSIVE_CPU_SECONDS_PER_GIB)).isCloseTo(0.7, within(1e-9));
        assertThat(figures.get(Metric.GIGABITS_PER_SECOND)).isEqualTo(6.5);
        assertThat(figures).doesNotContainKey(Metric.P50_MICROSECONDS);
    }

    @Test
    void messagesAtATimeHaveLatencies() {
        assertThat(SidecarPair.parse(LINE.replace("throughput", "latency")))
                .isEqualTo(Map.of(
                        Metric.P50_MICROSECONDS, 10.0, Metric.P99_MICROSECONDS, 20.0, Metric.P99_9_MICROSECONDS, 30.0));
    }

    @Test
    void smallMessagesHaveARate() {
        assertThat(SidecarPair.parse(LINE.replace("65536", "64")))
                .isEqualTo(Map.of(Metric.MESSAGES_PER_SECOND, 12385.0));
    }

    @Test
    void linesForPeopleAreLeftOut() {
        assertThat(SidecarPair.parse("a warning\n" + LINE)).isEqualTo(SidecarPair.parse(LINE));
    }

    @Test
    void anObjectOfAnotherShapeIsRefused() {
        assertThatThrownBy(() -> SidecarPair.parse("{\"size\": 1}")).isInstanceOf(Failure.class);
    }

    @Test
    void theDestinationIsWhatTheServerSaid() {
        assertThat(SidecarPair.destination("listening on 127.0.0.1:7471", "tcp"))
                .isEqualTo(List.of("127.0.0.1:7471", "--llp", "tcp"));
        assertThat(SidecarPair.destination("listening on 127.0.0.1:7471 in UDP port 9899", "sctp"))
                .isEqualTo(List.of("127.0.0.1:7471", "--llp", "sctp", "--udp-port", "9899"));
    }

    @Test
    void residentMemoryIsBytes() {
        assertThat(Usage.residentOctets(ProcessHandle.current().pid())).isGreaterThan(1 << 20);
        assertThat(Usage.residentOctets(0)).isZero();
    }

    @Test
    void aBuildWithoutRingsIsMeasuredOverItsOnlyQueue() {
        String help = "  --queue any|rings|grpc";

        assertThat(SidecarPair.queueOptions(help, QueuePath.RINGS, Waiting.ADAPTIVE))
                .containsExactly("--queue", "rings", "--wait", "adaptive");
        assertThat(SidecarPair.queueOptions(help, QueuePath.GRPC, Waiting.SLEEP))
                .containsExactly("--queue", "grpc");
        assertThat(SidecarPair.queueOptions("  --busy-poll", QueuePath.RINGS, Waiting.SLEEP))
                .isEmpty();
    }
}
