// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.remote;
import static io.sidewarp.service.testing.Works.sge;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.Capability;
import io.sidewarp.v1.CompareSwapWork;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.ConnectionCounters;
import io.sidewarp.v1.FetchAddWork;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.ImmediateWork;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteWork;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** Tests Immediate Data and atomic operations (RFC 7306) through the API, over two sidecars. */
class ExtensionsTest extends TwoSidecars {

    private static final long DATA = 0x8000_0000_0000_0001L;

    private static byte[] word(long value) {
        return ByteBuffer.allocate(8)
                .order(ByteOrder.nativeOrder())
                .putLong(value)
                .array();
    }

    private long wordOf(TestSession session, Region region, long offset) {
        return ByteBuffer.wrap(session.load(region.getId(), offset, 8))
                .order(ByteOrder.nativeOrder())
                .getLong();
    }

    private WorkCompletion perform(WorkRequest.Builder work) {
        return client.transfer()
                .perform(PerformRequest.newBuilder()
                        .setSession(client.token())
                        .setWork(work)
                        .build())
                .getCompletion();
    }

    @Test
    void theDeviceSaysWhatItIsCapableOf() {
        assertThat(client.device()
                        .getDevice(GetDeviceRequest.getDefaultInstance())
                        .getDevice()
                        .getCapabilitiesList())
                .contains(Capability.CAPABILITY_IMMEDIATE_DATA, Capability.CAPABILITY_ATOMIC_OPERATIONS);
    }

    private static WorkRequest.Builder emptyReceive(long id) {
        return WorkRequest.newBuilder().setId(id).setReceive(ReceiveWork.getDefaultInstance());
    }

    @Test
    void immediateDataArrivesInTheCompletionsOfReceives() {
        Region source = client.managed(64);
        Region target = server.managed(64, Access.ACCESS_REMOTE_WRITE);
        client.store(source.getId(), 0, word(77), 8);
        try (TestQueue queue = client.queue(10);
                TestQueue received = server.queue(10)) {
            queue.credits();
            received.credits();
            long connection = client.connectTo(server, received, emptyReceive(1), emptyReceive(2))
                    .here()
                    .getId();

            queue.post(
                    WorkRequest.newBuilder()
                            .setId(5)
                            .setConnection(connection)
                            .setImmediate(
                                    ImmediateWork.newBuilder().setData(DATA).setSolicited(true))
                            .build(),
                    WorkRequest.newBuilder()
                            .setId(6)
                            .setConnection(connection)
                            .setWrite(WriteWork.newBuilder()
                                    .addLocal(sge(source, 0, 8))
                                    .setRemote(remote(target, 16))
                                    .setImmediate(0))
                            .build());

            WorkCompletion first = received.next();
            assertThat(first.getId()).isEqualTo(1);
            assertThat(first.getImmediate()).isEqualTo(DATA);
            assertThat(first.getSolicited()).isTrue();
            assertThat(first.getLength()).isZero();
            WorkCompletion second = received.next();
            assertThat(second.getId()).isEqualTo(2);
            assertThat(second.hasImmediate()).isTrue();
            assertThat(second.getImmediate()).isZero();
            assertThat(wordOf(server, target, 16)).isEqualTo(77);
            assertThat(queue.next(2))
                    .extracting(WorkCompletion::getOpcode)
                    .containsExactly(Opcode.OPCODE_IMMEDIATE, Opcode.OPCODE_WRITE_WITH_IMMEDIATE);
        }
        ConnectionCounters counters = client.listConnections().getFirst().getCounters();
        assertThat(counters.getImmediatesSent()).isEqualTo(2);
        assertThat(counters.getWritesSent()).isEqualTo(1);
    }

    @Test
    void atomicOperationsReturnWhatTheyFound() {
        Region words = server.managed(64, Access.ACCESS_REMOTE_ATOMIC);
        Region found = client.managed(64, Access.ACCESS_LOCAL_WRITE);
        server.store(words.getId(), 8, word(40), 8);
        long connection = client.connectTo(server).here().getId();
        try (TestQueue queue = client.queue(10)) {
            queue.credits();

            queue.post(
                    WorkRequest.newBuilder()
                            .setId(1)
                            .setConnection(connection)
                            .setFetchAdd(FetchAddWork.newBuilder()
                                    .setRemote(remote(words, 8))
                                    .addLocal(sge(found, 24, 8))
                                    .setAdd(2))
                            .build(),
                    WorkRequest.newBuilder()
                            .setId(2)
                            .setConnection(connection)
                            .setCompareSwap(CompareSwapWork.newBuilder()
                                    .setRemote(remote(words, 8))
                                    .setCompare(42)
                                    .setSwap(-1))
                            .build());

            assertThat(queue.next(2)).extracting(WorkCompletion::getOriginal).containsExactly(40L, 42L);
        }
        assertThat(wordOf(client, found, 24)).isEqualTo(40);
        assertThat(wordOf(server, words, 8)).isEqualTo(-1);

        WorkCompletion last = perform(WorkRequest.newBuilder()
                .setConnection(connection)
                .setFetchAdd(FetchAddWork.newBuilder()
                        .setRemote(remote(words, 8))
                        .setAdd(1)
                        .setMask(0x8000_0000L)));
        assertThat(last.getOpcode()).isEqualTo(Opcode.OPCODE_FETCH_ADD);
        assertThat(last.getLength()).isEqualTo(8);
        assertThat(last.getOriginal()).isEqualTo(-1);
        assertThat(wordOf(server, words, 8)).isEqualTo(0xFFFF_FFFF_0000_0000L);
    }

    @Test
    void anAtomicOperationWithoutTheRightFailsWithThePeersError() {
        Region words = server.managed(64, Access.ACCESS_REMOTE_READ, Access.ACCESS_REMOTE_WRITE);
        long connection = client.connectTo(server).here().getId();

        assertThatThrownBy(() -> perform(WorkRequest.newBuilder()
                        .setConnection(connection)
                        .setFetchAdd(FetchAddWork.newBuilder()
                                .setRemote(remote(words, 0))
                                .setAdd(1))))
                .hasMessageContaining("Access rights violation")
                .extracting(failure -> Status.fromThrowable(failure).getCode())
                .isEqualTo(Status.Code.PERMISSION_DENIED);
    }

    @Test
    void theLocalElementOfAnAtomicOperationHas8Octets() {
        Region found = client.managed(64, Access.ACCESS_LOCAL_WRITE);
        long connection = client.connectTo(server).here().getId();

        assertThatThrownBy(() -> perform(WorkRequest.newBuilder()
                        .setConnection(connection)
                        .setFetchAdd(FetchAddWork.newBuilder().addLocal(sge(found, 0, 16)))))
                .hasMessageContaining("one element of length 8, or none");
    }

    @Test
    void aSidecarWithoutTheExtensionsRefusesAndSaysWhichSettingIsOff() {
        try (TestSidecar without = TestSidecar.start("sidewarp.extensions", "false");
                TestSession old = without.session("old")) {
            assertThat(old.device()
                            .getDevice(GetDeviceRequest.getDefaultInstance())
                            .getDevice()
                            .getCapabilitiesList())
                    .isEmpty();
            long connection = old.connectTo(server).here().getId();
            try (TestQueue queue = old.queue(1)) {
                queue.credits();
                queue.post(WorkRequest.newBuilder()
                        .setConnection(connection)
                        .setImmediate(ImmediateWork.newBuilder().setData(1))
                        .build());

                WorkCompletion refused = queue.next();
                assertThat(refused.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST);
                assertThat(refused.getMessage()).contains("sidewarp.extensions");
            }
        }
    }
}
