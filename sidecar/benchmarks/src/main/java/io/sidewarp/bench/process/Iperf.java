// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One stream of iperf3: a server for each measurement, and the client. */
public final class Iperf {

    private static final int PATIENCE_SECONDS = 30;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Place active;
    private final Place passive;

    /**
     * Result of iperf3.
     *
     * @param gigabitsPerSecond throughput at the receiver
     * @param activeCpuPerGib seconds of processor time per GiB at the sender
     * @param passiveCpuPerGib the same at the receiver
     */
    public record Result(double gigabitsPerSecond, double activeCpuPerGib, double passiveCpuPerGib) {

        private static final double GIB = 1L << 30;

        /** Parses the output of {@code iperf3 --json} at the client. */
        static Result parse(String json) throws IOException {
            JsonNode report = JSON.readTree(json);
            if (report.hasNonNull("error")) {
                throw new IOException(report.get("error").asText());
            }
            JsonNode end = report.required("end");
            JsonNode received = end.required("sum_received");
            JsonNode cpu = end.required("cpu_utilization_percent");
            double secondsPerGib = received.required("seconds").asDouble()
                    / (received.required("bytes").asDouble() / GIB);
            return new Result(
                    received.required("bits_per_second").asDouble() / 1e9,
                    cpu.required("host_total").asDouble() / 100 * secondsPerGib,
                    cpu.required("remote_total").asDouble() / 100 * secondsPerGib);
        }
    }

    /**
     * Makes a runner.
     *
     * @param active place of the client, which sends
     * @param passive place of the server
     */
    public Iperf(Place active, Place passive) {
        this.active = active;
        this.passive = passive;
    }

    /**
     * Measures.
     *
     * @param seconds time of the measurement, at least 1
     */
    public Result measure(IperfKind kind, int seconds) {
        return run(kind, "-t", String.valueOf(seconds));
    }

    /** Measures a stream that ends after a number of bytes. */
    public Result transfer(IperfKind kind, long octets) {
        return run(kind, "-n", String.valueOf(octets));
    }

    private Result run(IperfKind kind, String limit, String value) {
        String port = String.valueOf(freePort());
        List<String> serve = List.of("iperf3", "-s", "-1", "--forceflush", "-B", passive.address(), "-p", port);
        List<String> send =
                new ArrayList<>(List.of("iperf3", "-c", passive.address(), "-p", port, limit, value, "--json"));
        send.addAll(kind.options());
        try {
            Process server = start(passive.wrap(serve));
            try {
                awaitListening(server);
                Process client = start(active.wrap(send));
                String json = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                client.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
                return Result.parse(json);
            } finally {
                server.destroy();
                server.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
            }
        } catch (IOException e) {
            throw new Failure(
                    ExitCode.FAILED,
                    "iperf3 failed: " + e.getMessage() + " (Debian and Ubuntu: apt-get install iperf3)",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        }
    }

    private static void awaitListening(Process server) throws IOException {
        BufferedReader output = server.inputReader(StandardCharsets.UTF_8);
        String line = output.readLine();
        while (line != null && !line.contains("listening")) {
            line = output.readLine();
        }
        if (line == null) {
            throw new IOException("the server ended while it started");
        }
    }

    private static Process start(List<String> command) throws IOException {
        return Children.start(new ProcessBuilder(command).redirectErrorStream(true));
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new Failure(ExitCode.FAILED, "there is no free port at 127.0.0.1: " + e.getMessage(), e);
        }
    }
}
