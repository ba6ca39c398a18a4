// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.opentelemetry.context.Context;
import io.sidewarp.engine.net.tls.TlsIdentity;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.memory.RegionPlan;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.quota.SessionQuotas;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.testing.PlayedCall;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.settings.SidewarpConfig;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.CreateConnectionRequest;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.ManagedBacking;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.RegisterRegionRequest;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that quotas of a session are returned when memory, threads or the device run short during a call. */
class GivenBackTest {

    private static final Peer PEER = new Peer(1, 1000, 1000);
    private static final String THREADS = "threads";

    private EventLoop loop;
    private TestSidecar sidecar;
    private Telemetry telemetry;
    private SidecarSession session;
    private volatile String failing = "";

    @BeforeEach
    void start() {
        loop = new DefaultEventLoop();
        sidecar = TestSidecar.start();
        SidewarpConfig config = TestSidecar.config(sidecar.sharedVolume());
        telemetry = Telemetry.create(config.advanced().telemetry(), "test", Map.of());
        SessionRegistry registry = new SessionRegistry(
                failing(sidecar.sidecar().sessions().device()),
                TlsIdentity.NONE,
                this::execute,
                this::execute,
                Optional.empty(),
                Optional.empty(),
                config,
                telemetry,
                new PeerLogs(100),
                0);
        PlayedCall<OpenSessionResponse> call = new PlayedCall<>();
        call.setReady();
        session = onLoop(() -> {
            registry.open("test", PEER, loop, call);
            return registry.require(call.told().getFirst().getOpened().getSession(), PEER);
        });
    }

    @AfterEach
    void stop() {
        failing = "";
        Waiting.join(onLoop(() -> session.release(null)));
        telemetry.close();
        sidecar.close();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** A device of which one method fails, as for want of memory. */
    private Device failing(Device device) {
        return (Device) Proxy.newProxyInstance(
                Device.class.getClassLoader(), new Class<?>[] {Device.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(failing)) {
                        throw new OutOfMemoryError("played");
                    }
                    try {
                        return method.invoke(device, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private void execute(Runnable task) {
        if (failing.equals(THREADS)) {
            throw new OutOfMemoryError("unable to create native thread");
        }
        Thread.ofVirtual().start(task);
    }

    /** Steps that may fail. */
    private interface Work<T> {
        T run();
    }

    private <T> T onLoop(Work<T> work) {
        return Waiting.join(CompletableFuture.supplyAsync(work::run, loop));
    }

    private List<Long> used() {
        SessionQuotas quotas = session.context().quotas();
        return LongStream.of(
                        quotas.regions().used(),
                        quotas.totalRegions().used(),
                        quotas.registeredOctets().used(),
                        quotas.managedOctets().used(),
                        quotas.connections().used(),
                        quotas.completionEntries().used(),
                        quotas.workEntries().used(),
                        quotas.readRequests().used(),
                        quotas.receives().used(),
                        quotas.sharedReceiveQueues().used(),
                        quotas.listeners().used(),
                        quotas.protectionDomains().used(),
                        session.context().peers().count())
                .boxed()
                .toList();
    }

    private void assertGivenBack(String part, Work<?> work) {
        List<Long> before = used();
        failing = part;
        Throwable failure = catchThrowable(() -> onLoop(() -> {
                    Object result = work.run();
                    return result instanceof CompletableFuture<?> later
                            ? later
                            : CompletableFuture.completedFuture(result);
                })
                .orTimeout(20, TimeUnit.SECONDS)
                .join());

        assertThat(failure).as("the failure").isNotNull();
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(used()).isEqualTo(before));
    }

    @Test
    void failedProtectionDomainGivesItsQuotaBack() {
        assertGivenBack("allocateProtectionDomain", () -> session.memory().allocateDomain());
    }

    @ParameterizedTest
    @ValueSource(strings = {"createCompletionQueue", "createSharedReceiveQueue"})
    void failedSharedReceiveQueueGivesItsQuotasBack(String part) {
        assertGivenBack(
                part, () -> session.sharedReceives().create(CreateSharedReceiveQueueRequest.getDefaultInstance()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"createCompletionQueue", "createQueuePair"})
    void failedConnectionGivesItsQuotasBack(String part) {
        assertGivenBack(part, () -> connect("127.0.0.1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"createCompletionQueue", "createQueuePair"})
    void failedIdleConnectionGivesItsQuotasBack(String part) {
        assertGivenBack(part, () -> session.connections().create(CreateConnectionRequest.getDefaultInstance()));
    }

    @Test
    void failedLookupGivesItsQuotaBack() {
        assertGivenBack(THREADS, () -> connect("peer.invalid"));
    }

    private CompletableFuture<?> connect(String address) {
        ConnectRequest request =
                ConnectRequest.newBuilder().setAddress(address).setPort(1).build();
        return session.connections().connect(request, Context.root()).result();
    }

    @Test
    void failedListenerGivesItsQuotaBack() {
        assertGivenBack(
                "listen",
                () -> session.listeners()
                        .listen(
                                ListenRequest.newBuilder()
                                        .setAddress("127.0.0.1")
                                        .build(),
                                new PlayedCall<>()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"registerMemory", THREADS})
    void failedRegionGivesItsQuotasBack(String part) {
        assertGivenBack(part, () -> {
            RegisterRegionRequest request = RegisterRegionRequest.newBuilder()
                    .setManaged(ManagedBacking.newBuilder().setLength(4096))
                    .build();
            RegionPlan plan = RegionPlan.of(request, session.memory().defaultDomain(), 0, session.context());
            return session.memory().register(plan, () -> true);
        });
    }
}
