// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.testing.SilentPeer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests which address of a peer TCP connects to (RFC 8305). */
class TcpRaceTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @AutoClose
    private final EngineLoops loops = EngineLoops.create(1, NetSettings.defaults());

    private final BlockingQueue<InetSocketAddress> answers = new LinkedBlockingQueue<>();
    private final BlockingQueue<TcpTransport> transports = new LinkedBlockingQueue<>();

    private CompletableFuture<Void> race(InetSocketAddress... remotes) {
        EventLoop loop = loops.choose();
        CompletableFuture<Void> result = new CompletableFuture<>();
        loop.execute(() -> {
            CompletableFuture<Void> race = TcpRace.connect(loops, loop, List.of(remotes), (remote, transport) -> {
                answers.add(remote);
                transports.add(transport);
                transport.bind(
                        new MpaConnection(MpaRole.INITIATOR, MpaOptions.defaults(), transport, new RecordingEnd()));
            });
            race.whenComplete((ignored, failure) -> {
                if (failure == null) {
                    result.complete(null);
                } else {
                    result.completeExceptionally(failure);
                }
            });
            result.whenComplete((ignored, failure) -> {
                if (result.isCancelled()) {
                    loop.execute(() -> race.cancel(false));
                }
            });
        });
        return result;
    }

    private static ServerSocket listen() throws IOException {
        return new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
    }

    private static InetSocketAddress address(ServerSocket server) {
        return new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
    }

    /** An address where nobody listens. */
    private static InetSocketAddress refusing() throws IOException {
        try (ServerSocket server = listen()) {
            return address(server);
        }
    }

    private static InetSocketAddress at(String address) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), 7471);
    }

    @Test
    void familiesAlternateAndResolversOrderIsKept() {
        assertThat(TcpRace.order(List.of(at("2001:db8::1"), at("2001:db8::2"), at("192.0.2.1"), at("192.0.2.2"))))
                .containsExactly(at("2001:db8::1"), at("192.0.2.1"), at("2001:db8::2"), at("192.0.2.2"));
        assertThat(TcpRace.order(List.of(at("192.0.2.1"), at("192.0.2.1"), at("192.0.2.2"), at("2001:db8::1"))))
                .containsExactly(at("192.0.2.1"), at("2001:db8::1"), at("192.0.2.2"));
    }

    @Test
    void silentAddressLosesWhileItsAttemptIsPending() throws Exception {
        try (SilentPeer silent = new SilentPeer();
                ServerSocket server = listen()) {
            // The kernel tries for minutes: the race is won while it does.
            assertThat(race(silent.address(), address(server))).succeedsWithin(PATIENCE);

            assertThat(answers).containsExactly(address(server));
            Awaitility.await().atMost(PATIENCE).until(() -> silent.attempts() == 0);
        }
    }

    @Test
    void refusedAddressGivesWayToTheNext() throws Exception {
        try (ServerSocket server = listen()) {
            assertThat(race(refusing(), refusing(), address(server))).succeedsWithin(PATIENCE);

            assertThat(answers).containsExactly(address(server));
        }
    }

    @Test
    void loserGetsNoConnectionAndNoByte() throws Exception {
        try (ServerSocket winner = listen();
                ServerSocket loser = listen()) {
            assertThat(race(address(winner), address(loser))).succeedsWithin(PATIENCE);
            TcpTransport transport = transports.take();
            transport.loop().execute(transport::abort);

            assertThat(answers).containsExactly(address(winner));
            // The last connection is accepted last.
            try (Socket mark = new Socket(loser.getInetAddress(), loser.getLocalPort());
                    Socket accepted = loser.accept()) {
                assertThat(accepted.getPort()).isEqualTo(mark.getLocalPort());
            }
        }
    }

    @Test
    void failureTellsEachAddressThatWasTried() throws Exception {
        InetSocketAddress first = refusing();
        InetSocketAddress second = refusing();

        assertThat(race(first, second))
                .failsWithin(PATIENCE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        TcpRace.NoneReachedException.class,
                        none -> assertThat(none.failures()).containsOnlyKeys(first, second));
    }

    @Test
    void cancelledRaceClosesAllAttempts() throws Exception {
        try (SilentPeer first = new SilentPeer();
                SilentPeer second = new SilentPeer()) {
            CompletableFuture<Void> race = race(first.address(), second.address());
            Awaitility.await().atMost(PATIENCE).until(() -> first.attempts() == 1 && second.attempts() == 1);

            race.cancel(false);

            Awaitility.await().atMost(PATIENCE).until(() -> first.attempts() == 0 && second.attempts() == 0);
        }
    }
}
