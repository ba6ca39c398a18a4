// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.testing.SilentPeer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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
}
