// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.client.Access;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.OpenSessionInfo;
import io.sidewarp.client.RegionOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.testing.TestSidecar;
import java.io.File;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests creating calls of the Java client that are interrupted at some moment. */
class InterruptedCallsTest {

    private static final int ROUNDS = 300;
    private static final int LATEST_NANOS = 1_500_000;

    private final TestSidecar sidecar = TestSidecar.start("sidewarp.limits.protection-domains", "1000");
    private final Random random = new Random(20);
    private final AtomicInteger interrupted = new AtomicInteger();
    private SidewarpClient client;
    private Session session;

    @BeforeEach
    void open() {
        client = SidewarpClient.connect(ClientOptions.defaults()
                .withTarget("unix://" + sidecar.socket())
                .withSharedVolume(sidecar.sharedVolume()));
        session = client.openSession("interrupted");
    }

    @AfterEach
    void close() {
        client.close();
        sidecar.close();
    }

    @Test
    void interruptedCreationsOfSharedRegionsLeaveNothing() {
        AtomicInteger names = new AtomicInteger();
        interrupt(() -> session.createSharedRegion("file" + names.incrementAndGet(), 4096, Access.LOCAL_WRITE));

        awaitNothing(() -> session.listRegions().size());
        Awaitility.await()
                .untilAsserted(() -> assertThat(sidecar.sharedVolume().toFile().listFiles(File::isFile))
                        .isEmpty());
    }

    @Test
    void interruptedRegistrationsOfManagedRegionsLeaveNothing() {
        interrupt(() -> session.registerManaged(4096, RegionOptions.of(Access.LOCAL_WRITE)));

        awaitNothing(() -> session.listRegions().size());
    }

    @Test
    void interruptedCreationsOfSharedReceiveQueuesLeaveNothing() {
        interrupt(() -> session.createSharedReceiveQueue(16, 0));

        awaitNothing(() -> client.listSessions().get(0).sharedReceiveQueues());
    }

    @Test
    void interruptedAllocationsOfProtectionDomainsLeaveNothing() throws Exception {
        interrupt(() -> session.allocateProtectionDomain());

        // The session's default domain remains.
        Awaitility.await().untilAsserted(() -> assertThat(domains()).containsExactly(1L));
    }

    @Test
    void interruptedConnectsLeaveNoConnectionAtEitherSide() {
        try (Session peer = client.openSession("peer");
                Listener listener = peer.listen("127.0.0.1", 0, incoming -> incoming.accept())) {
            interrupt(() -> {
                var connection = session.connect("127.0.0.1", listener.port());
                return connection::abort;
            });

            awaitNothing(() -> session.listConnections().size());
            awaitNothing(() -> peer.listConnections().size());
        }
    }

    @Test
    void cancelledConnectsLeaveNoConnectionAtEitherSide() {
        try (Session peer = client.openSession("peer");
                Listener listener = peer.listen("127.0.0.1", 0, incoming -> incoming.accept())) {
            for (int i = 0; i < ROUNDS; i++) {
                CompletableFuture<Connection> connecting =
                        session.connectAsync("127.0.0.1", listener.port(), ConnectionOptions.defaults());
                LockSupport.parkNanos(random.nextInt(2 * LATEST_NANOS));
                if (!connecting.cancel(true)) {
                    connecting.join().abort();
                }
            }

            awaitNothing(() -> session.listConnections().size());
            awaitNothing(() -> peer.listConnections().size());
        }
    }

    @Test
    void interruptedListensAndSessionsLeaveNothing() {
        interrupt(() -> session.listen("127.0.0.1", 0, incoming -> {}));
        awaitNothing(() -> client.listSessions().stream()
                .mapToInt(OpenSessionInfo::listeners)
                .sum());

        interrupt(() -> client.openSession("short"));
        Awaitility.await().untilAsserted(() -> assertThat(client.listSessions()).hasSize(1));
    }

    /** Creates things, and interrupts the creating thread at a random moment. What is created in spite of that is closed. */
    private void interrupt(Supplier<? extends AutoCloseable> create) {
        for (int i = 0; i < ROUNDS; i++) {
            CompletableFuture<Void> outcome = new CompletableFuture<>();
            Thread caller = Thread.ofPlatform().start(() -> {
                try {
                    create.get().close();
                    outcome.complete(null);
                } catch (SidewarpException e) {
                    if (e.code() == Status.Code.CANCELLED) {
                        interrupted.incrementAndGet();
                        outcome.complete(null);
                    } else {
                        outcome.completeExceptionally(e);
                    }
                } catch (Throwable e) {
                    outcome.completeExceptionally(e);
                }
            });
            LockSupport.parkNanos(random.nextInt(LATEST_NANOS));
            caller.interrupt();
            outcome.orTimeout(20, TimeUnit.SECONDS).join();
        }
        assertThat(interrupted).hasPositiveValue();
    }

    private List<Long> domains() throws Exception {
        return sidecar.sidecar()
                .sessions()
                .collect(
                        new Peer(0, 0, 0),
                        own -> own.context().quotas().protectionDomains().used())
                .get(20, TimeUnit.SECONDS);
    }

    private static void awaitNothing(Supplier<Integer> count) {
        Awaitility.await().untilAsserted(() -> assertThat(count.get()).isZero());
    }
}
