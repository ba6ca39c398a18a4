// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.testing.PlayedCall;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SessionRegistryTest {

    private static final Peer GREEDY = new Peer(1, 1000, 1000);
    private static final Peer MODEST = new Peer(2, 1001, 1001);

    private EventLoop loop;
    private TestSidecar sidecar;

    @BeforeEach
    void start() {
        loop = new DefaultEventLoop();
        sidecar = TestSidecar.start("sidewarp.limits.sessions", "4");
    }

    @AfterEach
    void stop() {
        sidecar.close();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void open(Peer peer) {
        Waiting.join(CompletableFuture.runAsync(
                () -> sidecar.sidecar().sessions().open("test", peer, loop, new PlayedCall<>()), loop));
    }

    @Test
    void aUserWithAllTheSessionsThatItMayHaveLeavesSomeToAnother() {
        open(GREEDY);
        open(GREEDY);

        Status refused = Waiting.status(() -> open(GREEDY));
        open(MODEST);

        assertThat(refused.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(refused.getDescription())
                .contains("the limit is 4 (setting sidewarp.limits.sessions), this user has 2");
        assertThat(sidecar.sidecar().sessions().count()).isEqualTo(3);
    }
}
