// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.cli.text.Times;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/**
 * The report at the end of the demo.
 *
 * @param octets number of bytes that were moved
 * @param window bytes of shared memory at each side
 */
record DemoReport(long octets, long window, ProcessFacts sent, ProcessFacts received) {

    /** Bytes of the DDP and RDMAP headers of a tagged segment. */
    private static final int TAGGED_HEADERS = 14;

    /** Bytes of MPA's length, padding (none) and CRC. */
    private static final int MPA_OVERHEAD = 2 + 4;

    /** Bytes of the DDP-SSN, and of the header of an SCTP data chunk. */
    private static final int SCTP_OVERHEAD = 2 + 16;

    /** Returns whether the sent data, the receiver's memory and the data read back are the same. */
    boolean same() {
        String source = sent.text("sha256.source");
        return source.equals(sent.text("sha256.receiver")) && source.equals(sent.text("sha256.back"));
    }

    String text(DemoSidecars rig, long senderPid, long receiverPid, Optional<Path> file) {
        return processes(rig, senderPid, receiverPid, file) + "\n" + result() + "\n" + latency() + "\n" + wire()
                + identities();
    }

    private String processes(DemoSidecars rig, long senderPid, long receiverPid, Optional<Path> file) {
        String what = file.map(Path::toString).orElse("generated data");
        String fits = window >= octets
                ? "all of it in shared memory at both ends"
                : "through " + Sizes.format(window) + " of shared memory at each end";
        return what + ", " + Sizes.format(octets) + ", " + fits + "\n  sender    process " + senderPid + " - sidecar "
                + rig.left().sidecar().process().pid() + ", " + rig.left().api() + "\n  receiver  process "
                + receiverPid
                + " - sidecar " + rig.right().sidecar().process().pid() + ", "
                + rig.right().api() + "\n";
    }

    private String result() {
        Table table = new Table("", ">SIZE", ">TIME", ">GBIT/S", ">GB/S");
        addRate(table, "RDMA Write, sender to receiver", sent.number("write.nanos"));
        addRate(table, "RDMA Read, back to the sender", sent.number("read.nanos"));
        String digests = same()
                ? "SHA-256 " + sent.text("sha256.source") + "\n  the same at the sender, in the receiver's memory, and"
                        + " after reading back\n"
                : "SHA-256 DIFFERS: sender " + sent.text("sha256.source") + ", receiver " + sent.text("sha256.receiver")
                        + ", read back " + sent.text("sha256.back") + "\n";
        return table.render() + digests + "Send, there: \"" + sent.text("words") + "\"; back: \"" + sent.text("answer")
                + "\"\n";
    }

    private void addRate(Table table, String what, long nanos) {
        double gigabytes = octets / (nanos / 1e9) / 1e9;
        table.row(
                what,
                Sizes.format(octets),
                Times.format(nanos),
                String.format(Locale.ROOT, "%.2f", gigabytes * 8),
                String.format(Locale.ROOT, "%.2f", gigabytes));
    }

    private String latency() {
        Table table = new Table("LATENCY, 8 BYTES", ">P50", ">P99", ">P99.9", "MEASURED");
        addLatency(table, "write", "half of the round trip, into memory that the peer polls");
        addLatency(table, "read", "from posting to completion");
        addLatency(table, "send", "half of the round trip");
        return table.render();
    }

    private void addLatency(Table table, String operation, String kind) {
        String key = "latency." + operation;
        table.row(
                operation,
                Times.format(sent.number(key + ".p50")),
                Times.format(sent.number(key + ".p99")),
                Times.format(sent.number(key + ".p99_9")),
                kind);
    }

    private String wire() {
        long segments = sent.number("segments.sent");
        long back = sent.number("segments.received");
        double mean = (sent.number("octets.sent") + sent.number("octets.received")) / (double) (segments + back);
        boolean sctp = sent.text("llp").equals("SCTP");
        int overhead = TAGGED_HEADERS + (sctp ? SCTP_OVERHEAD : MPA_OVERHEAD);
        String parameters = sctp
                ? "MULPDU " + sent.text("mulpdu")
                : "MPA revision " + sent.text("revision") + ", CRC32c "
                        + (sent.text("crc").equals("true") ? "on" : "off") + ", Markers "
                        + (sent.text("markers").equals("true") ? "on" : "off") + ", MULPDU " + sent.text("mulpdu");
        Table table = new Table("ON THE WIRE", sctp ? ">CHUNKS" : ">FPDUS", ">PAYLOAD", ">WRITES", ">READS", ">SENDS");
        table.row(
                "sender to receiver",
                segments,
                Sizes.format(sent.number("octets.sent")),
                sent.number("writes.sent"),
                sent.number("reads.sent") + " requests",
                sent.number("sends.sent"));
        table.row(
                "receiver to sender",
                back,
                Sizes.format(sent.number("octets.received")),
                received.number("writes.sent"),
                received.number("reads.served") + " responses",
                sent.number("sends.received"));
        return table.render()
                + String.format(
                        Locale.ROOT,
                        "%s %s - %s, %s%n"
                                + "%.0f bytes of payload in %s on average, %d of framing and headers each"
                                + " (%.2f %%)%n"
                                + "Flush (a Read of no bytes): answered after %s; all Writes and Sends before it have been"
                                + " placed at the receiver%n",
                        sent.text("llp"),
                        sent.text("local"),
                        sent.text("remote"),
                        parameters,
                        mean,
                        sctp ? "a data chunk" : "an FPDU",
                        overhead,
                        100.0 * overhead / (mean + overhead),
                        Times.format(sent.number("flush.nanos")));
    }

    /** Tells whom TLS has verified. Empty without TLS. */
    private String identities() {
        if (!sent.has(ProcessFacts.PEER) || !received.has(ProcessFacts.PEER)) {
            return "";
        }
        return "TLS 1.3; the certificate that each side verified\n  of the sender    "
                + received.text(ProcessFacts.PEER) + "\n  of the receiver  " + sent.text(ProcessFacts.PEER) + "\n";
    }
}
