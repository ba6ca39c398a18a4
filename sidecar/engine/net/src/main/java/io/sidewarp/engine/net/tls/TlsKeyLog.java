// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.Security;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Key log of all TLS connections of this process, for debugging only: whoever reads the file can decrypt the connections
 * and forge their data. The format is NSS key log, which Wireshark and tshark read. Keys after a KeyUpdate follow from
 * those in the file.
 *
 * <p>The Java library has no hook for secrets. It derives them by HKDF of the security providers. A provider before the
 * others therefore sees each secret that a watched engine derives (RFC 8446 section 7.1).
 */
public final class TlsKeyLog implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TlsKeyLog.class);
    private static final Set<PosixFilePermission> OWN_ONLY = PosixFilePermissions.fromString("rw-------");
    private static final HexFormat HEX = HexFormat.of();

    /** Names in the file by the labels of RFC 8446 section 7.1. */
    private static final Map<String, String> NAMES = Map.of(
            "tls13 c hs traffic", "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
            "tls13 s hs traffic", "SERVER_HANDSHAKE_TRAFFIC_SECRET",
            "tls13 c ap traffic", "CLIENT_TRAFFIC_SECRET_0",
            "tls13 s ap traffic", "SERVER_TRAFFIC_SECRET_0");

    private static final String FIRST = "CLIENT_HANDSHAKE_TRAFFIC_SECRET";

    private static volatile @Nullable TlsKeyLog enabled;

    private final Path file;

    private TlsKeyLog(Path file) {
        this.file = file;
    }

    /**
     * Writes the secrets of all connections that begin from now on into a file, until the log is closed. Only the owner
     * can read the file. Lines are appended to an existing file. A process has one log at a time.
     *
     * @throws IOException if the file cannot be written
     */
    public static synchronized TlsKeyLog enable(Path file) throws IOException {
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(OWN_ONLY));
        } catch (FileAlreadyExistsException e) {
            Files.setPosixFilePermissions(file, OWN_ONLY);
            Files.writeString(file, "", StandardOpenOption.APPEND);
        }
        LOG.warn(
                "The secrets of all TLS connections are written to {}. Whoever reads this file can decrypt the"
                        + " connections and forge their data. Use this for debugging only, and delete the file"
                        + " afterwards.",
                file);
        Security.insertProviderAt(new KeyLogProvider(), 1);
        TlsKeyLog log = new TlsKeyLog(file);
        enabled = log;
        return log;
    }

    @Override
    public void close() {
        enabled = null;
        Security.removeProvider(KeyLogProvider.NAME);
    }

    /** Returns the engine itself, or one that logs the secrets of its connection. */
    static SSLEngine watch(SSLEngine engine) {
        TlsKeyLog log = enabled;
        return log == null ? engine : new WatchedEngine(engine, log);
    }

    /**
     * Writes a secret, if the format knows it.
     *
     * @param clientRandom random of the ClientHello, 32 bytes
     * @param info HkdfLabel from which the secret was derived (RFC 8446 section 7.1)
     */
    synchronized void write(byte[] clientRandom, byte[] info, byte[] secret) {
        String name = NAMES.get(label(info));
        if (name == null) {
            return;
        }
        String client = HEX.formatHex(clientRandom);
        if (name.equals(FIRST)) {
            LOG.warn("The secrets of the TLS connection with the client random {} are written to {}", client, file);
        }
        try {
            Files.writeString(
                    file,
                    name + " " + client + " " + HEX.formatHex(secret) + "\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            LOG.warn("Cannot write to the key log {}: {}. Free the disk, or check the file's permissions", file, e);
        }
    }

    /** Returns the label in an HkdfLabel: two bytes of length, then a length and the label. */
    private static String label(byte[] info) {
        int length = info.length > 2 ? info[2] & 0xFF : 0;
        return info.length < 3 + length ? "" : new String(info, 3, length, StandardCharsets.US_ASCII);
    }
}
