// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.e2e.wire.RecordedConnection;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** Records packets of ports on the loopback interface, and checks them with tshark. */
public final class Capture implements AutoCloseable {

    private static final String CONNECT = "tcp.flags.syn == 1 && tcp.flags.ack == 0";
    private static final String FIN = "tcp.flags.fin == 1";
    private static final String END = "tcp.flags.fin == 1 || tcp.flags.reset == 1";
    private static final String FOLLOWED = "Filter: tcp.stream eq ";

    private final OwnedProcess dumpcap;
    private final Path file;
    private final String ports;
    private final List<String> dissectors;

    private Capture(OwnedProcess dumpcap, Path file, String ports, List<String> dissectors) {
        this.dumpcap = dumpcap;
        this.file = file;
        this.ports = ports;
        this.dissectors = dissectors;
    }

    /** Starts to record TCP ports, or ends the test as skipped where that is not possible. */
    public static Capture start(String name, int... ports) {
        return start(name, "tcp", ports, List.of());
    }

    /**
     * Starts to record SCTP in a UDP port, and verifies its checksums. Skips the test where recording is not possible.
     */
    public static Capture startSctp(String name, int udpPort) {
        return start(
                name,
                "udp",
                new int[] {udpPort},
                List.of("-d", "udp.port==" + udpPort + ",sctp", "-o", "sctp.checksum:CRC-32C"));
    }

    private static Capture start(String name, String protocol, int[] ports, List<String> dissectors) {
        Tools.need("dumpcap", "wireshark-common");
        Tools.need("tshark", "tshark");
        Path file = Programs.output().resolve(name + ".pcapng");
        // The kernel's buffer has to hold all that the reader is too slow for.
        OwnedProcess dumpcap = OwnedProcess.start(
                "dumpcap-" + name,
                List.of(
                        "dumpcap",
                        "-q",
                        "-i",
                        "lo",
                        "-B",
                        "128",
                        "-f",
                        protocol + " and (" + joined(ports, "port ", " or ") + ")",
                        "-w",
                        file.toString()));
        String first = dumpcap.awaitLine(line -> line.startsWith("File:") || line.contains("permission"));
        boolean permitted = first.startsWith("File:");
        if (!permitted) {
            dumpcap.close();
        }
        assumeTrue(permitted || Tools.IN_CI, "this user may not capture packets: " + first);
        assertThat(permitted).as(first).isTrue();
        return new Capture(dumpcap, file, joined(ports, "", ", "), dissectors);
    }

    private static String joined(int[] ports, String before, String between) {
        return Arrays.stream(ports).mapToObj(port -> before + port).collect(Collectors.joining(between));
    }

    /** Path of the recorded packets. */
    public Path file() {
        return file;
    }

    /** Waits until a connection's end was recorded in both directions, and stops. */
    public void stopBehindTheConnection() {
        stopWhen(() -> distinct(FIN, "tcp.srcport").size() == 2);
    }

    /** Waits until the ends of so many connections were recorded, and stops. One that was refused is none. */
    public void stopBehind(int connections) {
        stopWhen(() -> {
            Set<String> ended = distinct(END, "tcp.stream");
            ended.retainAll(distinct("tcp.len > 0 && tcp.srcport in {" + ports + "}", "tcp.stream"));
            return ended.size() == connections;
        });
    }

    /** Waits until the end of an SCTP association was recorded (SHUTDOWN COMPLETE), and stops. */
    public void stopBehindTheAssociation() {
        stopWhen(() -> !fields("sctp.chunk_type == 14", "frame.number").isEmpty());
    }

    private Set<String> distinct(String filter, String field) {
        return new HashSet<>(fields(filter, field));
    }

    private void stopWhen(Callable<Boolean> recorded) {
        Patience.await("the end of what happens at the port is recorded").until(recorded);
        dumpcap.interrupt();
        assertThat(dumpcap.awaitExit()).isZero();
        assertThat(dumpcap.text()).as("all packets were recorded").contains("(pcap:0/dumpcap:0/");
    }

    /** Everything that tshark says about the recorded packets. */
    public Dissection dissect() {
        return dissect(file);
    }

    /** Everything that tshark says about the packets in a file. */
    public static Dissection dissect(Path file) {
        List<String> lines = new ArrayList<>();
        List<Integer> parts = parts(file);
        for (int i = 0; i < parts.size(); i++) {
            String from = "tcp.stream >= " + parts.get(i);
            String to = i + 1 < parts.size() ? " && tcp.stream < " + parts.get(i + 1) : "";
            Path part = Programs.output().resolve(file.getFileName() + ".part");
            tshark(file, "-Y", from + to, "-w", part.toString());
            // Without this option, tshark would dissect as RPC each Send whose beginning looks like an RPC header.
            lines.addAll(tshark(part, "--disable-protocol", "rpcordma", "-V"));
        }
        return new Dissection(lines);
    }

    /**
     * The first connections of parts in which no port is used twice: tshark takes the second for a continuation of the
     * first.
     */
    private static List<Integer> parts(Path file) {
        List<Integer> parts = new ArrayList<>(List.of(0));
        Set<String> ports = new HashSet<>();
        int streams = 0;
        for (String port : fields(file, CONNECT, "tcp.srcport")) {
            if (!ports.add(port)) {
                ports.clear();
                ports.add(port);
                parts.add(streams);
            }
            streams++;
        }
        return parts;
    }

    /** Returns one field of the recorded packets that match a filter. */
    public List<String> fields(String filter, String field) {
        List<String> arguments = new ArrayList<>(dissectors);
        arguments.addAll(List.of("-Y", filter, "-T", "fields", "-e", field));
        return tshark(file, arguments.toArray(String[]::new));
    }

    private static List<String> fields(Path file, String filter, String field) {
        return tshark(file, "-Y", filter, "-T", "fields", "-e", field);
    }

    /** The octets of the recorded connections over which the accepting side said something, as they began. */
    public List<RecordedConnection> connections() {
        return connections(file);
    }

    /** Does the same as {@link #connections()} for the packets in a file. */
    public static List<RecordedConnection> connections(Path file) {
        List<String> arguments = new ArrayList<>(List.of("-q"));
        int streams = new HashSet<>(fields(file, CONNECT, "tcp.stream")).size();
        for (int stream = 0; stream < streams; stream++) {
            arguments.addAll(List.of("-z", "follow,tcp,raw," + stream));
        }
        Map<Integer, RecordedConnection> connections = new TreeMap<>();
        int stream = -1;
        ByteArrayOutputStream initiator = new ByteArrayOutputStream();
        ByteArrayOutputStream responder = new ByteArrayOutputStream();
        for (String line : tshark(file, arguments.toArray(String[]::new))) {
            if (line.startsWith(FOLLOWED)) {
                stream = Integer.parseInt(line.substring(FOLLOWED.length()).strip());
            } else if (line.matches("\t?[0-9a-f]+")) {
                // The octets of the side that accepted are indented.
                (line.startsWith("\t") ? responder : initiator)
                        .writeBytes(HexFormat.of().parseHex(line.strip()));
            } else if (line.startsWith("===")) {
                if (responder.size() > 0) {
                    connections.put(stream, new RecordedConnection(initiator.toByteArray(), responder.toByteArray()));
                }
                initiator.reset();
                responder.reset();
            }
        }
        return List.copyOf(connections.values());
    }

    private static List<String> tshark(Path file, String... arguments) {
        List<String> command = new ArrayList<>(List.of("tshark", "-r", file.toString()));
        // MPA is known by what a connection begins with, but a port, also of the connecting side, may be another
        // protocol's.
        command.addAll(List.of("-o", "tcp.try_heuristic_first:TRUE", "-o", "tcp.reassemble_out_of_order:TRUE"));
        command.addAll(List.of(arguments));
        return Tools.output(command, Programs.output().resolve("tshark.err"));
    }

    @Override
    public void close() {
        dumpcap.close();
    }
}
