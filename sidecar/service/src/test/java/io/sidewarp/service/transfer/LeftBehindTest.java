// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.RemoteAddress;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteWork;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests what the sidecar keeps of ended calls while their work continues. */
class LeftBehindTest extends PlayedQueues {

    private static final int LARGE = 4 << 20;
    private static final int SESSIONS = 16;

    @Test
    void theRestOfAMessageIsNotKept() throws Exception {
        Caller caller = new Caller();
        QueueCallHandler ended = call(caller, 1);
        byte[] request = receives(2).toByteArray();

        WeakReference<QueueRequest> message = onLoop(() -> {
            QueueRequest received = QueueRequest.parseFrom(request);
            ended.onNext(received);
            return new WeakReference<>(received);
        });

        assertThat(receives.carriedOut()).isOne();
        caller.cancel();
        awaitGone(message);
        assertThat(ended).isNotNull();
    }

    @Test
    void aCallIsNotKeptByTheWorkThatItLeaves() throws Exception {
        WeakReference<QueueCallHandler> ended = endedBehind(receives(1));

        awaitGone(ended);

        assertThat(receives.isIdle()).isFalse();
        onLoop(() -> {
            receives.complete();
            return true;
        });
        await().until(() -> onLoop(receives::isIdle));
    }

    @Test
    void aCallThatEndsWaitsForSpaceNoMore() throws Exception {
        receive(call, message());
        for (int i = 0; i < 100; i++) {
            WeakReference<QueueCallHandler> ended = endedBehind(write());
            assertThat(onLoop(work::waiting)).isZero();
            assertThat(ended).isNotNull();
        }
    }

    @Test
    void aCallThatStaysWaitsForSpace() throws Exception {
        receive(call, message());
        Caller told = new Caller();
        QueueCallHandler waiting = call(told, 1);
        receive(waiting, write());
        assertThat(onLoop(work::waiting)).isEqualTo(1);
        endedBehind(write());

        onLoop(() -> {
            engine.complete();
            return true;
        });

        await().until(() -> onLoop(work::waiting) == 0);
        onLoop(() -> {
            engine.complete();
            return true;
        });
        await().until(() -> onLoop(() -> told.completions()) == 1);
        assertThat(waiting).isNotNull();
    }

    @Test
    void whatAClosingConnectionRefusedIsNotKeptForACallThatHasEnded() throws Exception {
        receive(call, write());
        engine.closing = true;
        Caller told = new Caller();
        QueueCallHandler waiting = call(told, 1);
        receive(waiting, write());
        for (int i = 0; i < 100; i++) {
            endedBehind(write());
        }

        assertThat(onLoop(work::waiting)).isEqualTo(1);
        onLoop(() -> {
            engine.complete();
            return true;
        });
        await().until(() -> onLoop(() -> told.completions()) == 1);
        assertThat(onLoop(work::waiting)).isZero();
        assertThat(waiting).isNotNull();
    }

    @Test
    void aSessionDoesNotKeepTheLastRequestOfPerform() throws Exception {
        WorkRequest nothing = WorkRequest.newBuilder()
                .setConnection(CONNECTION)
                .setUnknownFields(large())
                .build();
        long before = used();
        List<SessionTransfers> sessions = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
            SessionTransfers session = onLoop(anotherSession);
            sessions.add(session);
            CompletableFuture<WorkCompletion> refused = onLoop(() -> session.perform(nothing));
            assertThat(refused).isCompletedExceptionally();
        }

        await().until(() -> used() < before + LARGE);
        assertThat(sessions).hasSize(SESSIONS);
    }

    /** A call that has posted and left. */
    private WeakReference<QueueCallHandler> endedBehind(QueueRequest post) throws Exception {
        Caller caller = new Caller();
        QueueCallHandler leaving = call(caller, 1);
        receive(leaving, post);
        caller.cancel();
        onLoop(() -> true);
        return new WeakReference<>(leaving);
    }

    private QueueRequest receives(int count) {
        return post(
                count,
                WorkRequest.newBuilder()
                        .setSharedReceiveQueue(SHARED_RECEIVES)
                        .setReceive(ReceiveWork.newBuilder().addLocal(local())));
    }

    private QueueRequest write() {
        return post(
                1,
                WorkRequest.newBuilder()
                        .setConnection(CONNECTION)
                        .setWrite(WriteWork.newBuilder()
                                .addLocal(local())
                                .setRemote(RemoteAddress.newBuilder().setStag(1))));
    }

    private Sge local() {
        return Sge.newBuilder().setRegion(region).setLength(8).build();
    }

    private static QueueRequest post(int count, WorkRequest.Builder work) {
        return QueueRequest.newBuilder()
                .setPost(QueuePost.newBuilder().addAllWork(Collections.nCopies(count, work.build())))
                .build();
    }

    /** A field that nobody knows. */
    private static UnknownFieldSet large() {
        return UnknownFieldSet.newBuilder()
                .addField(
                        1000,
                        UnknownFieldSet.Field.newBuilder()
                                .addLengthDelimited(ByteString.copyFrom(new byte[LARGE - 4096]))
                                .build())
                .build();
    }

    private static void awaitGone(WeakReference<?> reference) {
        await().until(() -> {
            System.gc();
            return reference.get() == null;
        });
    }

    /** Octets of the heap that are in use. */
    private static long used() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
