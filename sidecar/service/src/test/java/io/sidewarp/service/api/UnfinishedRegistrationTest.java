// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Context;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.SharedVolume;
import io.sidewarp.engine.net.tls.TlsIdentity;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.provider.RdmaProvider;
import io.sidewarp.provider.software.SoftwareProvider;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.quota.Quota;
import io.sidewarp.service.quota.SessionQuotas;
import io.sidewarp.service.session.SessionRegistry;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.testing.PlayedCall;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.settings.SidewarpConfig;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.AllocateProtectionDomainRequest;
import io.sidewarp.v1.AllocateProtectionDomainResponse;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.CreateSharedReceiveQueueResponse;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.RegisterRegionResponse;
import io.sidewarp.v1.SharedBacking;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests callers that leave before they receive the created object, for example while the pages of their region are
 * prepared. The test says when the preparation continues.
 */
class UnfinishedRegistrationTest {

    private final BlockingQueue<Runnable> preparations = new LinkedBlockingQueue<>();
    private final Path directory = TestSidecar.newDirectory();
    private final RdmaProvider provider =
            SoftwareProvider.builder().eventLoops(1).build();
    private final Device device = provider.open();
    private final EventLoop loop = new DefaultEventLoop();
    private final Call<OpenSessionResponse> session = new Call<>();
    private Telemetry telemetry;
    private SessionRegistry registry;
    private Calls calls;
    private MemoryApi memory;
    private String token;

    @BeforeEach
    void open() throws Exception {
        SidewarpConfig config = TestSidecar.config(directory);
        telemetry = Telemetry.create(config.advanced().telemetry(), "test", Map.of());
        PeerLogs logs = new PeerLogs(1);
        Optional<SharedVolume> volume = Optional.of(new SharedVolume(directory));
        registry = new SessionRegistry(
                device,
                TlsIdentity.NONE,
                preparations::add,
                Runnable::run,
                volume,
                Optional.empty(),
                config,
                telemetry,
                logs,
                0);
        calls = new Calls(registry, logs);
        memory = new MemoryApi(calls);
        SidecarSession opened = loop.submit(() -> registry.open("test", Peer.ANONYMOUS, loop, session))
                .get(10, TimeUnit.SECONDS);
        session.setOnCancelHandler(() -> registry.left(opened));
        token = session.next().getOpened().getSession();
    }

    @AfterEach
    void close() throws Exception {
        registry.endAll().get(10, TimeUnit.SECONDS);
        telemetry.close();
        device.close();
        provider.close();
        loop.shutdownGracefully(0, 10, TimeUnit.SECONDS).get(20, TimeUnit.SECONDS);
        TestSidecar.delete(directory);
    }

    private Call<RegisterRegionResponse> register() {
        Call<RegisterRegionResponse> call = new Call<>();
        RegisterRegionRequest request = RegisterRegionRequest.newBuilder()
                .setSession(token)
                .addAccess(Access.ACCESS_LOCAL_WRITE)
                .setShared(SharedBacking.newBuilder()
                        .setPath("file")
                        .setLength(4096)
                        .setCreate(true))
                .build();
        Context.current().withValue(Peer.CONTEXT, Peer.ANONYMOUS).run(() -> memory.registerRegion(request, call));
        return call;
    }

    private Runnable preparation() throws InterruptedException {
        Runnable preparation = preparations.poll(10, TimeUnit.SECONDS);
        assertThat(preparation).isNotNull();
        return preparation;
    }

    private List<Long> regions() throws Exception {
        return used(SessionQuotas::regions);
    }

    private List<Long> used(Function<SessionQuotas, Quota> quota) throws Exception {
        return registry.collect(
                        Peer.ANONYMOUS,
                        session -> quota.apply(session.context().quotas()).used())
                .get(10, TimeUnit.SECONDS);
    }

    @Test
    void ofARegistrationWhoseCallerLeftNothingRemains() throws Exception {
        Call<RegisterRegionResponse> left = register();
        Runnable preparation = preparation();
        CountDownLatch prepared = holdLoop();
        preparation.run();
        left.cancel();

        prepared.countDown();

        Awaitility.await().untilAsserted(() -> assertThat(regions()).containsExactly(0L));
        assertThat(directory.resolve("file")).doesNotExist();
        Call<RegisterRegionResponse> again = register();
        preparation().run();
        assertThat(again.next().getRegion().getLength()).isEqualTo(4096);
    }

    @Test
    void aRegistrationWhoseCallerLeftBeforeItBeganTouchesNoMemory() throws Exception {
        Call<RegisterRegionResponse> left = register();
        Runnable preparation = preparation();
        left.cancel();
        // Nothing can be undone meanwhile.
        CountDownLatch looked = holdLoop();

        preparation.run();

        assertThat(directory.resolve("file")).doesNotExist();
        looked.countDown();
        Awaitility.await().untilAsserted(() -> assertThat(regions()).containsExactly(0L));
    }

    @Test
    void creationsWhoseCallerLeftBeforeTheAnswerAreUndone() throws Exception {
        SharedReceiveQueueApi queues = new SharedReceiveQueueApi(calls);
        Call<CreateSharedReceiveQueueResponse> queue = new Call<>();
        Call<AllocateProtectionDomainResponse> domain = new Call<>();
        CountDownLatch looked = holdLoop();
        Context.current().withValue(Peer.CONTEXT, Peer.ANONYMOUS).run(() -> {
            queues.createSharedReceiveQueue(
                    CreateSharedReceiveQueueRequest.newBuilder()
                            .setSession(token)
                            .build(),
                    queue);
            memory.allocateProtectionDomain(
                    AllocateProtectionDomainRequest.newBuilder()
                            .setSession(token)
                            .build(),
                    domain);
        });
        queue.cancel();
        domain.cancel();

        looked.countDown();

        // The session's default domain remains.
        Awaitility.await()
                .untilAsserted(
                        () -> assertThat(used(SessionQuotas::protectionDomains)).containsExactly(1L));
        assertThat(used(SessionQuotas::sharedReceiveQueues)).containsExactly(0L);
    }

    /** Keeps the session's thread from everything until the latch is counted down. */
    private CountDownLatch holdLoop() {
        CountDownLatch latch = new CountDownLatch(1);
        loop.execute(() -> {
            try {
                latch.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return latch;
    }

    @Test
    void aSessionThatEndsWaitsUntilARegistrationIsUndone() throws Exception {
        register();
        Runnable preparation = preparation();
        session.cancel();
        Awaitility.await().until(() -> registry.count() == 0);
        CompletableFuture<Void> released = registry.endAll();

        preparation.run();

        // Fails where the region is still there when its protection domain is given back.
        released.get(10, TimeUnit.SECONDS);
        assertThat(Files.exists(directory.resolve("file"))).isFalse();
    }

    /** The server's end of a call. */
    private static final class Call<T> extends PlayedCall<T> {

        private final BlockingQueue<T> responses = new LinkedBlockingQueue<>();
        private volatile Runnable onCancel = () -> {};
        private volatile boolean cancelled;

        Call() {
            setReady();
        }

        T next() throws InterruptedException {
            T response = responses.poll(10, TimeUnit.SECONDS);
            assertThat(response).isNotNull();
            return response;
        }

        /** The client leaves. */
        void cancel() {
            cancelled = true;
            onCancel.run();
        }

        @Override
        public boolean isCancelled() {
            return cancelled;
        }

        @Override
        public void setOnCancelHandler(Runnable handler) {
            onCancel = handler;
        }

        @Override
        public void onNext(T response) {
            responses.add(response);
        }
    }
}
