// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.testing.SilentPeer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class TcpConnectorTest {

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(1, NetSettings.defaults());

    @Test
    void anAttemptThatIsCancelledHasNoSocketAnyMore() throws Exception {
        try (SilentPeer peer = new SilentPeer()) {
            CompletableFuture<Void> attempt = TcpConnector.connect(loops, loops.choose(), peer.address(), transport -> {
                throw new AssertionError("nobody answers");
            });
            Awaitility.await().until(() -> peer.attempts() == 1);

            attempt.cancel(false);

            // The kernel would go on.
            Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> peer.attempts() == 0);
            assertThat(attempt).isCancelled();
        }
    }

    @Test
    void whenThereIsNoMemoryForTheConnectionItIsClosedAndTheAttemptHasFailed() throws Exception {
        OutOfMemoryError none = new OutOfMemoryError("none left");
        List<Throwable> faults = new CopyOnWriteArrayList<>();
        loops.setFaultHandler(faults::add);
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            InetSocketAddress address = new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
            CompletableFuture<Void> attempt = TcpConnector.connect(loops, loops.choose(), address, transport -> {
                throw none;
            });

            assertThatThrownBy(() -> attempt.get(10, TimeUnit.SECONDS)).hasCause(none);
            try (Socket peer = server.accept()) {
                peer.setSoTimeout(10_000);
                assertThat(peer.getInputStream().read()).isNegative();
            }
            assertThat(faults).containsExactly(none);
        }
    }
}
