// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A port of this machine that answers no SYN. The kernel drops SYNs while the backlog of a listener is full. */
public final class SilentPeer implements AutoCloseable {

    /** The kernel lets one more wait. */
    private static final int BACKLOG = 1;

    private static final List<Path> SOCKETS = List.of(Path.of("/proc/self/net/tcp"), Path.of("/proc/self/net/tcp6"));
    private static final String SYN_SENT = "02";

    private final ServerSocket server = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    private final List<Socket> waiting = new ArrayList<>();

    public SilentPeer() throws IOException {
        for (int i = 0; i <= BACKLOG; i++) {
            waiting.add(new Socket(server.getInetAddress(), server.getLocalPort()));
        }
    }

    public InetSocketAddress address() {
        return new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
    }

    /** Sockets that wait for its answer. */
    public long attempts() {
        String remotePort = String.format(":%04X", server.getLocalPort());
        return SOCKETS.stream()
                .flatMap(SilentPeer::lines)
                .map(line -> line.strip().split("\\s+"))
                .filter(fields -> fields[2].endsWith(remotePort) && fields[3].equals(SYN_SENT))
                .count();
    }

    private static Stream<String> lines(Path sockets) {
        try {
            return Files.exists(sockets) ? Files.readAllLines(sockets).stream() : Stream.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        for (Socket socket : waiting) {
            socket.close();
        }
        server.close();
    }
}
