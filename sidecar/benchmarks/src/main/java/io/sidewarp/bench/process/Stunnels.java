// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Two stunnels, one at each end, which carry a TCP connection by TLS 1.3 with AES-128-GCM and the certificates of both
 * sides.
 *
 * @param port port of the active end's stunnel
 */
record Stunnels(int port, ChildProcess active, ChildProcess passive) implements AutoCloseable {

    private static final Duration START_PATIENCE = Duration.ofSeconds(30);
    private static final String READY = "Configuration successful";

    /** Starts both. The passive one connects to the given port of its end. */
    static Stunnels to(int port, Certificates certificates, Place active, Place passive, Path directory) {
        String address = passive.address();
        int between = Iperf.freePort();
        ChildProcess passiveEnd = start("passive", "no", address, between, port, certificates, passive, directory);
        try {
            int entry = Iperf.freePort();
            ChildProcess activeEnd = start("active", "yes", address, entry, between, certificates, active, directory);
            return new Stunnels(entry, activeEnd, passiveEnd);
        } catch (RuntimeException e) {
            passiveEnd.close();
            throw e;
        }
    }

    private static ChildProcess start(
            String role,
            String client,
            String address,
            int from,
            int to,
            Certificates certificates,
            Place place,
            Path directory) {
        String configuration = """
                foreground = yes
                pid =
                debug = notice
                syslog = no
                sslVersion = TLSv1.3
                ciphersuites = TLS_AES_128_GCM_SHA256
                socket = l:TCP_NODELAY=1
                socket = r:TCP_NODELAY=1
                [bench]
                client = %s
                accept = %s:%d
                connect = %s:%d
                cert = %s
                key = %s
                CAfile = %s
                verifyChain = yes
                """.formatted(
                        client,
                        address,
                        from,
                        address,
                        to,
                        certificates.file("tls.crt"),
                        certificates.file("tls.key"),
                        certificates.file("ca.crt"));
        try {
            Path file = Files.writeString(directory.resolve("stunnel-" + role + ".conf"), configuration);
            ChildProcess process = ChildProcess.start(
                    "stunnel (Debian and Ubuntu: apt-get install stunnel4)",
                    place.wrap(List.of("stunnel", file.toString())),
                    Map.of(),
                    directory.resolve("stunnel-" + role + ".log"));
            process.awaitLine(READY, START_PATIENCE);
            return process;
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot write a file of stunnel: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        active.close();
        passive.close();
    }
}
