// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.StatusRuntimeException;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.net.tls.TlsIdentity;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.provider.RdmaProvider;
import io.sidewarp.provider.software.SoftwareProvider;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.memory.RegionPlan;
import io.sidewarp.service.memory.SessionMemory;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.quota.EffectiveLimits;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.service.quota.PeerQuotas;
import io.sidewarp.service.quota.QuotaRefusals;
import io.sidewarp.service.quota.RequestLimits;
import io.sidewarp.service.quota.SessionQuotas;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.testing.PlayedCall;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.settings.SidewarpConfig;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.FetchAddWork;
import io.sidewarp.v1.ImmediateWork;
import io.sidewarp.v1.ManagedBacking;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.RemoteAddress;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteWork;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Queue calls of a session with one connection. The test plays gRPC and the engine. */
abstract class PlayedQueues {

    static final int WORK_PER_MESSAGE = PlayedEngine.CAPACITY;
    static final long CONNECTION = 7;
    static final long SHARED_RECEIVES = 8;

    private final Path directory = TestSidecar.newDirectory();
    private final RdmaProvider provider =
            SoftwareProvider.builder().eventLoops(1).build();
    private final Device device = provider.open();
    private Telemetry telemetry;

    final EventLoop loop = new DefaultEventLoop();
    final PlayedEngine engine = new PlayedEngine();
    final PlayedEngine receives = new PlayedEngine();
    /** Makes transfers as those of the session. */
    Callable<SessionTransfers> anotherSession;

    SessionTransfers transfers;
    ConnectionWork work;
    QueueCallHandler call;
    long region;

    @BeforeEach
    void open() throws Exception {
        SidewarpConfig config =
                TestSidecar.config(directory, "sidewarp.advanced.telemetry.latency-sampling", "1000000000");
        telemetry = Telemetry.create(config.advanced().telemetry(), "test", Map.of());
        EffectiveLimits limits = EffectiveLimits.of(config.limits(), device.attributes());
        QuotaRefusals refusals = new QuotaRefusals();
        SessionContext context = new SessionContext(
                "test",
                Peer.ANONYMOUS,
                loop,
                Runnable::run,
                Runnable::run,
                device,
                TlsIdentity.NONE,
                Optional.empty(),
                Optional.empty(),
                config,
                limits,
                RequestLimits.of(limits, refusals),
                SessionQuotas.of(config.limits(), SessionQuotas.Pools.of(config.limits()), Peer.UNKNOWN, refusals),
                new PeerQuotas(1, 1, refusals),
                new AtomicLong(),
                event -> {},
                telemetry,
                telemetry.work().meter(),
                new PeerLogs(1));
        SessionMemory memory = onLoop(() -> new SessionMemory(context));
        SharedReceiveWork shared = onLoop(() -> new SharedReceiveWork(
                SHARED_RECEIVES,
                memory.defaultDomain(),
                receives,
                receives,
                loop,
                context.meter(),
                new Grant(),
                limit -> {}));
        work = onLoop(() -> new ConnectionWork(
                CONNECTION,
                engine,
                memory.defaultDomain(),
                engine,
                WORK_PER_MESSAGE,
                WORK_PER_MESSAGE,
                shared,
                loop,
                context.meter()));
        RegisterRegionRequest request = RegisterRegionRequest.newBuilder()
                .addAccess(Access.ACCESS_LOCAL_WRITE)
                .setManaged(ManagedBacking.newBuilder().setLength(4096))
                .build();
        Pd domain = memory.defaultDomain();
        region = onLoop(() -> memory.register(RegionPlan.of(request, domain, 0, context), () -> true))
                .get(10, TimeUnit.SECONDS)
                .id();
        anotherSession = () -> new SessionTransfers(
                context, memory, new OneConnection(work), id -> id == SHARED_RECEIVES ? shared : null);
        transfers = onLoop(anotherSession);
        call = call(new Caller(), WORK_PER_MESSAGE);
    }

    QueueCallHandler call(Caller by, int credits) throws Exception {
        QueueCallHandler opened = new QueueCallHandler(by, token -> transfers);
        QueueRequest open = QueueRequest.newBuilder()
                .setOpen(QueueOpen.newBuilder().setSession("x").setOutstanding(credits))
                .build();
        receive(opened, open);
        return opened;
    }

    void receive(QueueCallHandler by, QueueRequest request) throws Exception {
        onLoop(() -> {
            by.onNext(request);
            return true;
        });
    }

    @AfterEach
    void close() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        telemetry.close();
        device.close();
        provider.close();
        TestSidecar.delete(directory);
    }

    <T> T onLoop(Callable<T> task) throws Exception {
        return loop.submit(task).get(60, TimeUnit.SECONDS);
    }

    QueueRequest message() {
        RemoteAddress remote = RemoteAddress.newBuilder()
                .setStag(0x12345678)
                .setTaggedOffset(64)
                .build();
        QueuePost.Builder post = QueuePost.newBuilder();
        for (int i = 0; i < WORK_PER_MESSAGE; i++) {
            Sge local =
                    Sge.newBuilder().setRegion(region).setOffset(8).setLength(8).build();
            WorkRequest.Builder work = WorkRequest.newBuilder().setId(i).setConnection(CONNECTION);
            switch (i % 5) {
                case 0 -> work.setWrite(WriteWork.newBuilder().addLocal(local).setRemote(remote));
                case 1 -> work.setRead(ReadWork.newBuilder().addLocal(local).setRemote(remote));
                case 2 -> work.setSend(SendWork.newBuilder().addLocal(local).setSolicited(true));
                case 3 -> work.setImmediate(ImmediateWork.newBuilder().setData(i));
                default ->
                    work.setFetchAdd(FetchAddWork.newBuilder()
                            .addLocal(local)
                            .setRemote(remote)
                            .setAdd(1));
            }
            post.addWork(work);
        }
        return QueueRequest.newBuilder().setPost(post).build();
    }

    /** The caller of a Queue call. It reads unless a test stops it. */
    static final class Caller extends PlayedCall<QueueResponse> {

        private Runnable cancelled = () -> {};
        private Runnable readAgain = () -> {};
        private volatile boolean reading = true;
        private final AtomicInteger asked = new AtomicInteger();

        Caller() {
            setReady();
        }

        @Override
        public void setOnCancelHandler(Runnable handler) {
            cancelled = handler;
        }

        @Override
        public void setOnReadyHandler(Runnable handler) {
            readAgain = handler;
        }

        @Override
        public boolean isReady() {
            return reading && super.isReady();
        }

        @Override
        public void request(int count) {
            asked.addAndGet(count);
        }

        /** Returns how many requests the call asked for. */
        int asked() {
            return asked.get();
        }

        void stopReading() {
            reading = false;
        }

        void readAgain() {
            reading = true;
            readAgain.run();
        }

        /** Leaves. */
        void cancel() {
            cancelled.run();
        }

        int completions() {
            return told().stream()
                    .mapToInt(response -> response.getCompletions().getCompletionsCount())
                    .sum();
        }
    }

    private record OneConnection(ConnectionWork work) implements ConnectionLookup {

        @Override
        public long endings() {
            return 0;
        }

        @Override
        public @Nullable ConnectionWork find(long connection) {
            return connection == CONNECTION ? work : null;
        }

        @Override
        public StatusRuntimeException missing(long connection) {
            return ApiError.notFound("connection", connection, "connect first");
        }
    }
}
