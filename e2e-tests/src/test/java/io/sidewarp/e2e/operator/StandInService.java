// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Stand-in for a Service: one port in front of the ready pods. */
final class StandInService implements AutoCloseable {
    private static final int CONNECT_MILLIS = 2000;

    private final ServerSocket listener;
    private final Supplier<List<Integer>> readyPorts;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    StandInService(Supplier<List<Integer>> readyPorts) {
        this.readyPorts = readyPorts;
        try {
            listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("service").start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                forward(listener.accept());
            } catch (IOException e) {
                // Closed, or a client that is gone already.
            }
        }
    }

    private void forward(Socket client) throws IOException {
        List<Integer> ready = readyPorts.get();
        if (ready.isEmpty()) {
            client.close();
            return;
        }
        Socket pod = new Socket();
        open.add(client);
        open.add(pod);
        try {
            pod.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), ready.getFirst()), CONNECT_MILLIS);
        } catch (IOException e) {
            end(client, pod);
            return;
        }
        Thread.ofPlatform().daemon().start(() -> copy(client, pod));
        Thread.ofPlatform().daemon().start(() -> copy(pod, client));
    }

    private void copy(Socket from, Socket to) {
        try (InputStream input = from.getInputStream();
                OutputStream output = to.getOutputStream()) {
            input.transferTo(output);
        } catch (IOException e) {
            // One side has ended, so the other one ends too.
        } finally {
            end(from, to);
        }
    }

    private void end(Socket... sockets) {
        for (Socket socket : sockets) {
            open.remove(socket);
            try {
                socket.close();
            } catch (IOException e) {
                // It is closed then.
            }
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        end(open.toArray(Socket[]::new));
    }
}
