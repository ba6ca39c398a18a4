// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

/** Records what goes over one port of the loopback interface, and has tshark judge it. */
public final class Capture implements AutoCloseable {

    private static final String FIN = "tcp.flags.fin == 1";
    private static final String END = "tcp.flags.fin == 1 || tcp.flags.reset == 1";

    private final OwnedProcess dumpcap;
    private final Path file;
    private final int port;
    private final List<String> dissectors;

    private Capture(OwnedProcess dumpcap, Path file, int port, List<String> dissectors) {
        this.dumpcap = dumpcap;
        this.file = file;
        this.port = port;
        this.dissectors = dissectors;
    }

    /** Starts to record a TCP port, or ends the test as skipped where that is not possible. */
    public static Capture start(String name, int port) {
        return start(name, "tcp", port, List.of());
    }

    /** Starts to record SCTP in a UDP port, or ends the test as skipped where that is not possible. */
    public static Capture startSctp(String name, int udpPort) {
        return start(name, "udp", udpPort, List.of("-d", "udp.port==" + udpPort + ",sctp"));
    }

    private static Capture start(String name, String protocol, int port, List<String> dissectors) {
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
                        protocol + " port " + port,
                        "-w",
                        file.toString()));
        String first = dumpcap.awaitLine(line -> line.startsWith("File:") || line.contains("permission"));
        boolean permitted = first.startsWith("File:");
        if (!permitted) {
            dumpcap.close();
        }
        assumeTrue(permitted || Tools.IN_CI, "this user may not capture packets: " + first);
        assertThat(permitted).as(first).isTrue();
        return new Capture(dumpcap, file, port, dissectors);
    }

    /** Waits until a connection's end was recorded in both directions, and stops. */
    public void stopBehindTheConnection() {
        stopWhen(() -> distinct(FIN, "tcp.srcport").size() == 2);
    }

    /** Waits until the ends of so many connections were recorded, and stops. One that was refused is none. */
    public void stopBehind(int connections) {
        stopWhen(() -> {
            Set<String> ended = distinct(END, "tcp.stream");
            ended.retainAll(distinct("tcp.len > 0 && tcp.srcport == " + port, "tcp.stream"));
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
        List<String> lines = new ArrayList<>();
        List<Integer> parts = parts();
        for (int i = 0; i < parts.size(); i++) {
            String from = "tcp.stream >= " + parts.get(i);
            String to = i + 1 < parts.size() ? " && tcp.stream < " + parts.get(i + 1) : "";
            Path part = Programs.output().resolve(file.getFileName() + ".part");
            tshark("-Y", from + to, "-w", part.toString());
            // Each Send whose beginning looks like a header of RPC would be dissected as one otherwise.
            lines.addAll(tsharkOf(part, "--disable-protocol", "rpcordma", "-V"));
        }
        return new Dissection(lines);
    }

    /**
     * The first connections of parts in which no port is used twice: tshark takes the second for a continuation of the
     * first.
     */
    private List<Integer> parts() {
        List<Integer> parts = new ArrayList<>(List.of(0));
        Set<String> ports = new HashSet<>();
        int streams = 0;
        for (String port : fields("tcp.flags.syn == 1 && tcp.flags.ack == 0", "tcp.srcport")) {
            if (!ports.add(port)) {
                ports.clear();
                ports.add(port);
                parts.add(streams);
            }
            streams++;
        }
        return parts;
    }

    /** One field of the recorded packets that a filter lets through. */
    public List<String> fields(String filter, String field) {
        return tshark("-Y", filter, "-T", "fields", "-e", field);
    }

    /**
     * The octets of the first recorded connection.
     *
     * @param initiator true: from the side that connected
     */
    public byte[] stream(boolean initiator) {
        List<String> lines = tshark("-q", "-z", "follow,tcp,raw,0");
        StringBuilder octets = new StringBuilder();
        // The peer's octets are indented by a tab. The first octets of an MPA connection come from who connected.
        lines.stream()
                .filter(line -> line.matches("\t?[0-9a-f]+"))
                .filter(line -> line.startsWith("\t") != initiator)
                .forEach(line -> octets.append(line.strip()));
        return HexFormat.of().parseHex(octets);
    }

    private List<String> tshark(String... arguments) {
        List<String> all = new ArrayList<>(dissectors);
        all.addAll(List.of(arguments));
        return tsharkOf(file, all.toArray(String[]::new));
    }

    private static List<String> tsharkOf(Path file, String... arguments) {
        List<String> command = new ArrayList<>(List.of("tshark", "-r", file.toString()));
        command.addAll(List.of(arguments));
        return Tools.output(command, Programs.output().resolve("tshark.err"));
    }

    @Override
    public void close() {
        dumpcap.close();
    }
}
