// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sidewarp.cli.Failure;
import io.sidewarp.client.QueuePath;
import java.util.List;
import org.junit.jupiter.api.Test;

class PerfReportTest {

    private static final String LINE = "{\"version\":1,\"operation\":\"write\",\"mode\":\"throughput\",\"size\":65536,"
            + "\"depth\":16,\"signal\":1,\"gigabits_per_second\":6.5,\"messages_per_second\":12385,"
            + "\"latency_microseconds\":{\"kind\":\"completion\",\"p50\":10,\"p99\":20,\"p99_9\":30},"
            + "\"cpu_seconds_per_gib\":{\"client\":0.1,\"client_sidecar\":0.7,\"server\":0.2,\"server_sidecar\":0.5},"
            + "\"connection\":{\"crc\":true}}";

    @Test
    void addsUpTheProcessesOfEachEnd() {
        PerfReport report = PerfReport.parse(LINE).getFirst();

        assertThat(report.activeCpuPerGib()).isCloseTo(0.8, within(1e-9));
        assertThat(report.passiveCpuPerGib()).isCloseTo(0.7, within(1e-9));
        assertThat(report.gigabitsPerSecond()).isEqualTo(6.5);
        assertThat(report.p999Micros()).isEqualTo(30);
        assertThat(report.crc()).isTrue();
        assertThat(report.latency()).isFalse();
    }

    @Test
    void linesForPeopleAreLeftOut() {
        assertThat(PerfReport.parse("a warning\n" + LINE + "\n" + LINE)).hasSize(2);
    }

    @Test
    void anObjectOfAnotherShapeIsRefused() {
        assertThatThrownBy(() -> PerfReport.parse("{\"size\": 1}")).isInstanceOf(Failure.class);
    }

    @Test
    void theDestinationIsWhatTheServerSaid() {
        assertThat(SidecarPair.destination("listening on 127.0.0.1:7471", "tcp"))
                .isEqualTo(List.of("127.0.0.1:7471", "--llp", "tcp"));
        assertThat(SidecarPair.destination("listening on 127.0.0.1:7471 in UDP port 9899", "sctp"))
                .isEqualTo(List.of("127.0.0.1:7471", "--llp", "sctp", "--udp-port", "9899"));
    }

    @Test
    void residentMemoryIsOctets() {
        assertThat(Memory.residentOctets(List.of("Name:\tjava", "VmRSS:\t   2048 kB")))
                .isEqualTo(2 << 20);
        assertThat(Memory.residentOctets(List.of("Name:\tjava"))).isZero();
    }

    @Test
    void aBuildWithoutRingsIsMeasuredOverItsOnlyQueue() {
        String help = "  --queue any|rings|grpc";

        assertThat(SidecarPair.queueOptions(help, QueuePath.RINGS))
                .containsExactly("--queue", "rings", "--wait", "adaptive");
        assertThat(SidecarPair.queueOptions(help, QueuePath.GRPC)).containsExactly("--queue", "grpc");
        assertThat(SidecarPair.queueOptions("  --busy-poll", QueuePath.RINGS)).isEmpty();
    }
}
