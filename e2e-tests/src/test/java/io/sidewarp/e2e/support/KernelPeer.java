// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;

/**
 * The peer for DDP over SCTP that runs on the SCTP of the guest's kernel. It carries out its commands, checks each
 * received chunk itself, and prints each event: see e2e-tests/sctp-peer/peer.c.
 */
public final class KernelPeer {

    private static final String PROGRAM = "ddp-sctp-peer ";

    /** Each peer listens at its own port, so that no peer meets leftovers of another one. */
    private static final AtomicInteger NEXT_PORT = new AtomicInteger(7000);

    private final CompletableFuture<SiwGuest.Result> result;
    private final int port;

    private KernelPeer(CompletableFuture<SiwGuest.Result> result, int port) {
        this.result = result;
        this.port = port;
    }

    /** Starts one that waits for an association, and returns when it does. */
    public static KernelPeer listen(SiwGuest guest, List<String> options, String... commands) {
        int port = NEXT_PORT.getAndIncrement();
        KernelPeer peer = new KernelPeer(guest.start(script(options, "listen=" + port, commands)), port);
        Patience.await("the peer listens at SCTP port " + port)
                .until(() -> peer.result.isDone()
                        || guest.run("cat /proc/net/sctp/eps").text().contains(" " + port + " "));
        return peer;
    }

    /** Starts one that begins an association with a listener on this machine. */
    public static KernelPeer connect(
            SiwGuest guest, int sctpPort, int udpPort, List<String> options, String... commands) {
        String target = "connect=" + SiwGuest.HOST + ":" + sctpPort + ":" + udpPort;
        return new KernelPeer(guest.start(script(options, target, commands)), 0);
    }

    private static String script(List<String> options, String beginning, String... commands) {
        List<String> arguments = new ArrayList<>(options);
        arguments.add(beginning);
        arguments.addAll(List.of(commands));
        return PROGRAM + String.join(" ", arguments);
    }

    /** The SCTP port at which it listens. */
    public int port() {
        return port;
    }

    /** Returns the output of the peer after it has carried out all commands without an error. */
    public String text() {
        SiwGuest.Result ended = Patience.get(result);
        assertThat(ended.text()).doesNotContain("failed: ");
        return ended.orThrow().text();
    }

    /** Returns the output of the peer up to its error. */
    public String failure() {
        SiwGuest.Result ended = Patience.get(result);
        assertThat(ended.status()).as(ended.text()).isNotZero();
        return ended.text();
    }

    /** Returns the output of the peer, with or without an error. */
    public String anyText() {
        return Patience.get(result).text();
    }

    /** Returns the data that the peer sends: letters that differ from round to round, and a zero byte at the end. */
    public static byte[] letters(int octets, int round) {
        byte[] letters = new byte[octets];
        for (int i = 0; i < octets - 1; i++) {
            letters[i] = (byte) ('a' + (i + round) % 26);
        }
        return letters;
    }

    /** Formats the checksum of bytes as the peer prints it. */
    public static String checksum(byte[] octets) {
        CRC32 crc = new CRC32();
        crc.update(octets);
        return "CRC-32 %08x".formatted(crc.getValue());
    }
}
