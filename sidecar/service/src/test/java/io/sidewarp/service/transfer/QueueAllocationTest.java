// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.management.ThreadMXBean;
import io.grpc.KnownLength;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.ProtectionDomain;
import io.sidewarp.engine.net.LateTask;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.provider.RdmaProvider;
import io.sidewarp.provider.software.SoftwareProvider;
import io.sidewarp.service.config.SidewarpConfig;
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
import io.sidewarp.service.quota.SessionShare;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.FetchAddWork;
import io.sidewarp.v1.ImmediateWork;
import io.sidewarp.v1.ManagedBacking;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.RemoteAddress;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteWork;
import java.io.ByteArrayInputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What the service itself allocates for work on a Queue call, from the octets of a request to those of its completions.
 * gRPC and the engine are played by the test, so that nothing of theirs counts.
 */
class QueueAllocationTest {

    private static final int WORK_PER_MESSAGE = PlayedEngine.CAPACITY;
    private static final int WARM_UP = 3_000;
    private static final int MEASURED = 1_000;
    /** Whose completions have more than 8 KiB, and less than 16. */
    private static final int UNREAD_MESSAGES = 15;

    /** Whose refusals have more than 64 KiB, and less than 128. */
    private static final int REFUSED = 1200;

    private static final long CONNECTION = 7;
    private static final long SHARED_RECEIVES = 8;
    /** Objects of a message: the frame, the streams over its octets, and the nodes of this loop's queue of tasks. */
    private static final int PER_MESSAGE = 400;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Path directory = TestSidecar.newDirectory();
    private final RdmaProvider provider =
            SoftwareProvider.builder().eventLoops(1).build();
    private final Device device = provider.open();
    private final EventLoop loop = new DefaultEventLoop();
    private final PlayedEngine engine = new PlayedEngine();
    private final PlayedEngine receives = new PlayedEngine();
    private final UnreadOctets unreadOctets = new UnreadOctets();
    private Telemetry telemetry;
    private SessionTransfers transfers;
    private SentMessages sent;
    private QueueCall call;
    private long region;

    @BeforeEach
    void open() throws Exception {
        SidewarpConfig config = TestSidecar.config(directory, "sidewarp.telemetry.latency-sampling", "1000000000");
        telemetry = Telemetry.create(config.telemetry(), "test", Map.of());
        EffectiveLimits limits = EffectiveLimits.of(config.limits(), device.attributes());
        QuotaRefusals refusals = new QuotaRefusals();
        SessionContext context = new SessionContext(
                "test",
                Peer.ANONYMOUS,
                loop,
                Runnable::run,
                Runnable::run,
                device,
                Optional.empty(),
                config.connection(),
                limits,
                RequestLimits.of(limits, refusals),
                SessionQuotas.of(
                        limits,
                        new SessionShare(
                                SessionShare.Shared.managedOctets(limits.managedOctets()), Peer.UNKNOWN, refusals),
                        new SessionShare(SessionShare.Shared.workEntries(limits.workEntries()), Peer.UNKNOWN, refusals),
                        refusals),
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
        ConnectionWork work = onLoop(() -> new ConnectionWork(
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
        ProtectionDomain domain = memory.defaultDomain();
        region = onLoop(() -> memory.register(RegionPlan.of(request, domain, 0, context), () -> true))
                .get(10, TimeUnit.SECONDS)
                .id();
        transfers = onLoop(() -> new SessionTransfers(
                context, memory, new OneConnection(work), id -> id == SHARED_RECEIVES ? shared : null));
        sent = new SentMessages();
        call = call(sent, WORK_PER_MESSAGE);
    }

    private QueueCall call(SentMessages to, int credits) throws Exception {
        QueueCall opened = new QueueCall(to, (token, peer) -> transfers, Peer.CONTEXT.get(), unreadOctets);
        QueueRequest open = QueueRequest.newBuilder()
                .setOpen(QueueOpen.newBuilder().setSession("x").setOutstanding(credits))
                .build();
        receive(opened, open);
        return opened;
    }

    private void receive(QueueCall by, QueueRequest request) throws Exception {
        onLoop(() -> {
            by.onMessage(received(request.toByteArray()));
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

    private <T> T onLoop(Callable<T> task) throws Exception {
        return loop.submit(task).get(60, TimeUnit.SECONDS);
    }

    private static QueueFrame received(byte[] octets) {
        return QueueFrame.MARSHALLER.parse(new Known(octets));
    }

    private byte[] message() {
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
        return QueueRequest.newBuilder().setPost(post).build().toByteArray();
    }

    @Test
    void aWarmQueueAllocatesPerMessageAndNothingPerWorkRequest() throws Exception {
        byte[] message = message();

        long allocated = allocated(message);

        assertThat(engine.carriedOut()).isEqualTo((long) (WARM_UP + MEASURED) * WORK_PER_MESSAGE);
        assertThat(sent.messages).isEqualTo(1 + WARM_UP + MEASURED);
        assertThat(sent.closed).isNull();
        // The octets of a message are kept as they came; one more object per work request would be 1024 octets more.
        assertThat(allocated / MEASURED).isLessThan(message.length + PER_MESSAGE);
    }

    @Test
    void receivesOfASharedReceiveQueueAllocateNothingEither() throws Exception {
        Sge local = Sge.newBuilder().setRegion(region).setOffset(8).setLength(8).build();
        QueuePost.Builder post = QueuePost.newBuilder();
        for (int i = 0; i < WORK_PER_MESSAGE; i++) {
            post.addWork(WorkRequest.newBuilder()
                    .setId(i)
                    .setSharedReceiveQueue(SHARED_RECEIVES)
                    .setReceive(ReceiveWork.newBuilder().addLocal(local)));
        }
        byte[] message = QueueRequest.newBuilder().setPost(post).build().toByteArray();

        long allocated = allocated(message);

        assertThat(receives.carriedOut()).isEqualTo((long) (WARM_UP + MEASURED) * WORK_PER_MESSAGE);
        assertThat(sent.messages).isEqualTo(1 + WARM_UP + MEASURED);
        assertThat(sent.closed).isNull();
        assertThat(allocated / MEASURED).isLessThan(message.length + PER_MESSAGE);
    }

    @Test
    void aCallerThatDoesNotReadWhyItsWorkIsRefusedGetsNoMoreRefused() throws Exception {
        int count = 8192;
        SentMessages unread = new SentMessages();
        QueueCall refusing = call(unread, count);
        QueuePost.Builder nothing = QueuePost.newBuilder();
        for (int i = 0; i < count; i++) {
            nothing.addWork(WorkRequest.newBuilder().setId(i));
        }
        assertThat(unread.requested).isEqualTo(1);

        unread.ready = false;
        receive(refusing, QueueRequest.newBuilder().setPost(nothing).build());
        assertThat(unread.requested).as("messages asked for").isEqualTo(1);
        unread.ready = true;
        int first = onLoop(() -> {
            refusing.onReady();
            return unread.largest;
        });

        assertThat(first).isBetween(2 * 1024, 3 * 1024);
        // The rest of the message was posted behind that.
        onLoop(refusing::toString);
        assertThat(unread.completions).isEqualTo(count);
        assertThat(unread.largest).isBetween(60 * 1024, 65 * 1024);
        assertThat(unread.requested).isEqualTo(2);
        assertThat(unread.closed).isNull();
    }

    @Test
    void manyCompletionsThatAreNotReadCountUntilTheyAre() throws Exception {
        SentMessages unread = new SentMessages();
        QueueCall waiting = call(unread, UNREAD_MESSAGES * WORK_PER_MESSAGE);

        completeUnread(waiting, unread, UNREAD_MESSAGES);
        assertThat(unreadOctets.held).isBetween(8L * 1024, 32L * 1024);
        unread.ready = true;
        waiting.onReady();
        onLoop(waiting::toString);

        assertThat(unreadOctets.held).isZero();
        assertThat(unread.completions).isEqualTo(UNREAD_MESSAGES * WORK_PER_MESSAGE);
        assertThat(unread.closed).isNull();
    }

    @Test
    void aFewKibOfCompletionsThatWaitCountToo() throws Exception {
        SentMessages unread = new SentMessages();
        QueueCall waiting = call(unread, UNREAD_MESSAGES * WORK_PER_MESSAGE);

        completeUnread(waiting, unread, 6);

        assertThat(unreadOctets.held).isBetween(2L * 1024, 5L * 1024);
    }

    @Test
    void aCallWithMoreUnreadCompletionsThanItMayHaveEnds() throws Exception {
        SentMessages unread = new SentMessages();
        QueueCall waiting = call(unread, UNREAD_MESSAGES * WORK_PER_MESSAGE);
        unreadOctets.limit = 10_000;

        completeUnread(waiting, unread, UNREAD_MESSAGES);

        assertThat(unread.closed).isEqualTo(Status.RESOURCE_EXHAUSTED);
        // But for what went out before there was much.
        assertThat(unread.largest).isLessThan(4 * 1024);
        assertThat(unread.completions).isLessThan(5 * WORK_PER_MESSAGE);
        assertThat(unreadOctets.held).isZero();
    }

    @Test
    void whatTheTransportHoldsCountsUntilItHasTakenAll() throws Exception {
        SentMessages held = new SentMessages();
        QueueCall refusing = call(held, REFUSED);
        held.holding = true;
        receive(refusing, nothing(REFUSED));

        assertThat(held.largest).isBetween(60 * 1024, 65 * 1024);
        assertThat(unreadOctets.held).isBetween((long) held.largest, 70L * 1024);
        assertThat(held.completions).isLessThan(REFUSED);
        held.holding = false;
        held.ready = true;
        refusing.onReady();
        await().until(() -> onLoop(() -> held.completions) == REFUSED);
        assertThat(unreadOctets.held).isZero();
    }

    @Test
    void aMessageThatTheTransportMayNotHoldEndsItsCallAndIsNotSent() throws Exception {
        SentMessages held = new SentMessages();
        QueueCall refusing = call(held, REFUSED);
        held.holding = true;
        unreadOctets.limit = 10_000;

        receive(refusing, nothing(REFUSED));

        assertThat(held.closed).isEqualTo(Status.RESOURCE_EXHAUSTED);
        assertThat(held.completions).isZero();
        assertThat(unreadOctets.held).isZero();
    }

    @Test
    void aFewSmallMessagesGoOutBeforeTheTransportHasTakenTheLast() throws Exception {
        SentMessages held = new SentMessages();
        QueueCall refusing = call(held, REFUSED);
        held.holding = true;
        for (int i = 0; i < 20; i++) {
            receive(refusing, nothing(1));
        }

        // Their buffers and what else gRPC has of each are 4 KiB.
        int sent = held.completions;
        assertThat(sent).isBetween(3, 8);
        assertThat(unreadOctets.held).isZero();
        held.holding = false;
        held.ready = true;
        refusing.onReady();
        await().until(() -> onLoop(() -> held.completions) == 20);
        assertThat(held.messages).isEqualTo(1 + sent + 1);
    }

    @Test
    void aCallThatEndedGivesNothingBackThatTheTransportHolds() throws Exception {
        SentMessages held = new SentMessages();
        QueueCall refusing = call(held, REFUSED);
        held.holding = true;
        receive(refusing, nothing(REFUSED));

        refusing.onCancel();
        onLoop(refusing::toString);

        assertThat(unreadOctets.held).isBetween((long) held.largest, held.largest + 1024L);
    }

    /** Work without a connection, which is refused. */
    private static QueueRequest nothing(int count) {
        QueuePost.Builder nothing = QueuePost.newBuilder();
        for (int i = 0; i < count; i++) {
            nothing.addWork(WorkRequest.newBuilder().setId(i));
        }
        return QueueRequest.newBuilder().setPost(nothing).build();
    }

    /** Has work carried out whose completions cannot be sent. */
    private void completeUnread(QueueCall by, SentMessages to, int messages) throws Exception {
        byte[] message = message();
        to.ready = false;
        for (int i = 0; i < messages && to.closed == null; i++) {
            onLoop(() -> {
                by.onMessage(received(message));
                engine.complete();
                return true;
            });
            await().until(() -> onLoop(() -> engine.isIdle()));
        }
    }

    /** What the loop allocates while the message comes again and again. */
    private long allocated(byte[] message) throws Exception {
        Turns turns = new Turns(message);
        loop.execute(turns);
        return turns.allocated.get(60, TimeUnit.SECONDS);
    }

    /** One message after the other, each when the completions of the one before have gone out. */
    private final class Turns implements Runnable {

        final CompletableFuture<Long> allocated = new CompletableFuture<>();
        private final LateTask next = new LateTask(loop, PolledWork.STREAM_ROUNDS + 1, this);
        private final byte[] message;
        private int turn;
        private long before;

        Turns(byte[] message) {
            this.message = message;
        }

        @Override
        public void run() {
            if (turn == WARM_UP) {
                before = THREADS.getCurrentThreadAllocatedBytes();
            } else if (turn == WARM_UP + MEASURED) {
                allocated.complete(THREADS.getCurrentThreadAllocatedBytes() - before);
                return;
            }
            turn++;
            call.onMessage(received(message));
            engine.complete();
            receives.complete();
            next.request();
        }
    }

    /** Octets as gRPC hands them over. */
    private static final class Known extends ByteArrayInputStream implements KnownLength {
        Known(byte[] octets) {
            super(octets);
        }
    }

    private record OneConnection(ConnectionWork work) implements ConnectionLookup {

        @Override
        public @Nullable ConnectionWork find(long connection) {
            return connection == CONNECTION ? work : null;
        }

        @Override
        public StatusRuntimeException missing(long connection) {
            return ApiError.notFound("connection", connection, "connect first");
        }

        @Override
        public InitialReceives initialReceives(long connection) {
            return work.initialReceives();
        }
    }
}
