// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.engine.net.CongestionControl;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One stream of iperf3: a server for each measurement, and the client. The size of a plan is what each write and read of
 * a socket takes.
 *
 * @param name name in results
 * @param congestionControl name of the congestion control; empty for the machine's
 * @param tunnel certificates of two stunnels, through which the stream goes; empty for none
 * @param active place of the client, which sends
 * @param passive place of the server
 * @param directory directory for the server's log
 */
public record Iperf(
        String name,
        String congestionControl,
        Optional<Certificates> tunnel,
        Place active,
        Place passive,
        Path directory)
        implements Program {

    /** Size with the defaults of iperf3. */
    public static final int DEFAULT = 128 << 10;

    /** Size with the largest throughput. */
    public static final int LARGE = 1 << 20;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration START_PATIENCE = Duration.ofSeconds(30);
    private static final double GIB = 1L << 30;

    /** Bytes a second, about, which determine the length of a stream of less than a second. */
    private static final long SPEED = 4L << 30;

    private static final long LEAST = 1 << 20;

    /**
     * Makes a program.
     *
     * @param size size of its plans
     * @param local whether it has the engine's congestion control on loopback
     * @param suffix end of its name, for a variant
     */
    public static Iperf of(int size, boolean local, String suffix, Place active, Place passive, Path directory) {
        String control = local ? CongestionControl.LOCAL : "";
        String options = " -l " + (size >> 10) + "K" + (local ? " -C " + control : "");
        return new Iperf("iperf3" + options + suffix, control, Optional.empty(), active, passive, directory);
    }

    /** Returns the same program through two stunnels, one at each end. */
    public Iperf through(Certificates certificates) {
        return new Iperf(
                name + " by stunnel", congestionControl, Optional.of(certificates), active, passive, directory);
    }

    /** Measures whole seconds, since iperf3 takes no others. For less than a second, iperf3 sends a number of bytes. */
    @Override
    public Map<Metric, Double> measure(TransferPlan plan, Duration warmup, Duration time) {
        int port = freePort();
        List<String> serve =
                List.of("iperf3", "-s", "-1", "--forceflush", "-B", passive.address(), "-p", String.valueOf(port));
        try (ChildProcess server =
                ChildProcess.start("iperf3 -s", passive.wrap(serve), Map.of(), directory.resolve("iperf3.log"))) {
            server.awaitLine("listening", START_PATIENCE);
            if (tunnel.isEmpty()) {
                return send(plan, time, port);
            }
            try (Stunnels stunnels = Stunnels.to(port, tunnel.get(), active, passive, directory)) {
                return withoutUsage(send(plan, time, stunnels.port()));
            }
        }
    }

    /** Leaves out the processor time of iperf3, because stunnels take more. */
    private static Map<Metric, Double> withoutUsage(Map<Metric, Double> figures) {
        return Map.of(Metric.GIGABITS_PER_SECOND, figures.get(Metric.GIGABITS_PER_SECOND));
    }

    private Map<Metric, Double> send(TransferPlan plan, Duration time, int port) {
        List<String> send =
                new ArrayList<>(List.of("iperf3", "-c", passive.address(), "-p", String.valueOf(port), "--json"));
        send.addAll(List.of("-l", String.valueOf(plan.size())));
        send.addAll(
                time.toSeconds() > 0
                        ? List.of("-t", String.valueOf(time.toSeconds()))
                        : List.of("-n", String.valueOf(Math.max(LEAST, SPEED / 1000 * time.toMillis()))));
        send.addAll(congestionControl.isEmpty() ? List.of() : List.of("-C", congestionControl));
        return parse(ChildProcess.run("Debian and Ubuntu: apt-get install iperf3", active.wrap(send)));
    }

    /** Parses the output of {@code iperf3 --json} at the client. Throughput is that at the receiver. */
    static Map<Metric, Double> parse(String json) {
        try {
            JsonNode report = JSON.readTree(json);
            if (report.hasNonNull("error")) {
                throw new Failure(
                        ExitCode.FAILED, "iperf3 failed: " + report.get("error").asText());
            }
            JsonNode received = report.at("/end/sum_received");
            JsonNode cpu = report.at("/end/cpu_utilization_percent");
            double secondsPerGib = received.required("seconds").asDouble()
                    / (received.required("bytes").asDouble() / GIB);
            return Map.of(
                    Metric.GIGABITS_PER_SECOND,
                    received.required("bits_per_second").asDouble() / 1e9,
                    Metric.ACTIVE_CPU_SECONDS_PER_GIB,
                    cpu.required("host_total").asDouble() / 100 * secondsPerGib,
                    Metric.PASSIVE_CPU_SECONDS_PER_GIB,
                    cpu.required("remote_total").asDouble() / 100 * secondsPerGib);
        } catch (JsonProcessingException e) {
            throw new Failure(ExitCode.FAILED, "iperf3 printed what cannot be read: " + json, e);
        }
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new Failure(ExitCode.FAILED, "there is no free port at 127.0.0.1: " + e.getMessage(), e);
        }
    }
}
