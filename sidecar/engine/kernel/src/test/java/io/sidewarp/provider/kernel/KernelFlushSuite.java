// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Tests flushes by and towards the kernel's soft-iWARP, and reports about data that may not have arrived. */
final class KernelFlushSuite extends KernelSuite {

    private static final int LENGTH = 1 << 19;
    private static final int PART = 1 << 16;
    private static final int SMALL = 64;
    private static final int SEND_QUEUE = 256;

    private void postWrite(Endpoint client, Endpoint server, long id, long offset, int length) {
        client.postSend(request.reset(id, WrOpcode.RDMA_WRITE)
                .addSge(client.region, offset, length)
                .remote(server.region.stag(), target(server, offset)));
    }

    private void postFlush(Endpoint client, long id) {
        client.postSend(request.reset(id, WrOpcode.FLUSH));
    }

    private static void assertCompletes(Endpoint endpoint, long id, WrOpcode opcode, CqeStatus status) {
        Cqe done = endpoint.awaitCompletion();
        assertThat(done.id()).isEqualTo(id);
        assertThat(done.opcode()).isEqualTo(opcode);
        assertThat(done.status()).isEqualTo(status);
    }

    private static List<QueuePairState> states(Endpoint endpoint) {
        List<QueuePairState> states = new CopyOnWriteArrayList<>();
        endpoint.queuePair.setEventListener((queuePair, state, error, message) -> states.add(state));
        return states;
    }

    /** A region of the server that peers may only read. */
    private static MemoryRegion readable(Endpoint server) {
        return server.device.registerMemory(
                server.domain,
                ManagedBacking.allocate(SMALL),
                new RegionAttributes(Set.of(AccessRight.REMOTE_READ), 0),
                0);
    }

    private void placesDataBeforeFlush(Device clients, Device servers) throws Exception {
        Endpoint client = new Endpoint(clients, LENGTH);
        Endpoint server = new Endpoint(servers, LENGTH);
        connect(client, server);
        for (int round = 1; round <= 8; round++) {
            client.fill(round);
            for (int offset = 0; offset < LENGTH; offset += PART) {
                client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                        .addSge(client.region, offset, PART)
                        .remote(server.region.stag(), target(server, offset))
                        .signaled(false));
            }
            postFlush(client, round);

            assertCompletes(client, round, WrOpcode.FLUSH, CqeStatus.SUCCESS);
            assertThat(server.octets(0, LENGTH)).isEqualTo(client.octets(0, LENGTH));
        }
    }

    @Test
    void kernelPlacesDataBeforeFlushOfKernel() throws Exception {
        placesDataBeforeFlush(kernel, kernel);
    }

    @Test
    void softwarePlacesDataBeforeFlushOfKernel() throws Exception {
        placesDataBeforeFlush(kernel, software);
    }

    @Test
    void kernelPlacesDataBeforeFlushOfSoftware() throws Exception {
        placesDataBeforeFlush(software, kernel);
    }

    private void completesFlaggedWorkOnce(Device clients, Device servers) throws Exception {
        Endpoint client = new Endpoint(clients, LENGTH);
        Endpoint server = new Endpoint(servers, LENGTH);
        client.fill(3);
        server.postReceive(9, LENGTH / 2, SMALL);
        connect(client, server);

        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, PART)
                .remote(server.region.stag(), target(server, 0))
                .flush(true));
        Cqe written = client.awaitCompletion();
        assertThat(written.id()).isEqualTo(1);
        assertThat(written.opcode()).isEqualTo(WrOpcode.RDMA_WRITE);
        assertThat(written.status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(written.length()).isEqualTo(PART);
        assertThat(server.octets(0, PART)).isEqualTo(client.octets(0, PART));
        client.postSend(
                request.reset(2, WrOpcode.SEND).addSge(client.region, 0, SMALL).flush(true));
        assertCompletes(client, 2, WrOpcode.SEND, CqeStatus.SUCCESS);
        assertThat(server.octets(LENGTH / 2, SMALL)).isEqualTo(client.octets(0, SMALL));
        postFlush(client, 3);
        assertCompletes(client, 3, WrOpcode.FLUSH, CqeStatus.SUCCESS);
    }

    @Test
    void flaggedWorkOfKernelCompletesOnceWithKernel() throws Exception {
        completesFlaggedWorkOnce(kernel, kernel);
    }

    @Test
    void flaggedWorkOfKernelCompletesOnceWithSoftware() throws Exception {
        completesFlaggedWorkOnce(kernel, software);
    }

    @Test
    void flaggedWorkOfSoftwareCompletesOnceWithKernel() throws Exception {
        completesFlaggedWorkOnce(software, kernel);
    }

    @Test
    void sendQueueTakesFlaggedWorkInEverySlot() throws Exception {
        Endpoint client = new Endpoint(kernel, SEND_QUEUE);
        Endpoint server = new Endpoint(software, SEND_QUEUE);
        client.fill(4);
        connect(client, server);

        for (int i = 0; i < SEND_QUEUE; i++) {
            client.postSend(request.reset(i, WrOpcode.RDMA_WRITE)
                    .addSge(client.region, i, 1)
                    .remote(server.region.stag(), target(server, i))
                    .flush(true));
        }

        for (int i = 0; i < SEND_QUEUE; i++) {
            assertCompletes(client, i, WrOpcode.RDMA_WRITE, CqeStatus.SUCCESS);
        }
        assertThat(server.octets(0, SEND_QUEUE)).isEqualTo(client.octets(0, SEND_QUEUE));
        assertThat(client.queuePair.counters().writesSent()).isEqualTo(SEND_QUEUE);
    }

    @Test
    void flushWaitsBehindReads() throws Exception {
        Endpoint client = new Endpoint(kernel, LENGTH);
        Endpoint server = new Endpoint(software, LENGTH);
        connect(client, server, ConnectionParameters.defaults().withReadDepth(1, 1));
        for (int id = 1; id <= 4; id++) {
            client.postSend(request.reset(id, WrOpcode.RDMA_READ)
                    .addSge(client.region, 0, PART)
                    .remote(server.region.stag(), target(server, 0)));
            postFlush(client, id + 10);
        }

        for (int id = 1; id <= 4; id++) {
            assertCompletes(client, id, WrOpcode.RDMA_READ, CqeStatus.SUCCESS);
            assertCompletes(client, id + 10, WrOpcode.FLUSH, CqeStatus.SUCCESS);
        }
    }

    @Test
    void connectionWithoutOrdRefusesFlushes() throws Exception {
        Endpoint client = new Endpoint(kernel, SMALL);
        Endpoint server = new Endpoint(software, SMALL);
        connect(client, server, ConnectionParameters.defaults().withReadDepth(1, 0));

        assertThat(client.queuePair.postSend(request.reset(1, WrOpcode.FLUSH))).isEqualTo(PostResult.INVALID_REQUEST);
        assertThat(client.queuePair.postSend(request.reset(2, WrOpcode.RDMA_WRITE)
                        .addSge(client.region, 0, SMALL)
                        .remote(server.region.stag(), target(server, 0))
                        .flush(true)))
                .isEqualTo(PostResult.INVALID_REQUEST);
        postWrite(client, server, 3, 0, SMALL);
        assertCompletes(client, 3, WrOpcode.RDMA_WRITE, CqeStatus.SUCCESS);
    }

    private void failsFlushOfRefusedWrite(Device clients, Device servers) throws Exception {
        Endpoint client = new Endpoint(clients, SMALL);
        Endpoint server = new Endpoint(servers, SMALL);
        MemoryRegion refused = readable(server);
        List<QueuePairState> states = states(client);
        connect(client, server);

        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, SMALL)
                .remote(refused.stag(), refused.baseTaggedOffset())
                .signaled(false));
        postFlush(client, 2);

        Cqe done = client.awaitCompletion();
        while (done.id() == 1) {
            done = client.awaitCompletion();
        }
        assertThat(done.id()).isEqualTo(2);
        assertThat(done.status()).isNotEqualTo(CqeStatus.SUCCESS);
        client.awaitState(QueuePairState.CLOSED);
        get(client.queuePair.disconnect());
        assertThat(states).contains(QueuePairState.TERMINATE);
        assertThat(client.queuePair.isUnconfirmed()).isTrue();
    }

    @Test
    void flushOfKernelFailsWhenSoftwareRefusesWrite() throws Exception {
        failsFlushOfRefusedWrite(kernel, software);
    }

    @Test
    void flushOfKernelFailsWhenKernelRefusesWrite() throws Exception {
        failsFlushOfRefusedWrite(kernel, kernel);
    }

    @Test
    void flushOfSoftwareFailsWhenKernelRefusesWrite() throws Exception {
        failsFlushOfRefusedWrite(software, kernel);
    }

    @Test
    void flaggedWriteThatIsRefusedCompletesOnce() throws Exception {
        Endpoint client = new Endpoint(kernel, SMALL);
        Endpoint server = new Endpoint(software, SMALL);
        MemoryRegion refused = readable(server);
        connect(client, server);

        for (int id = 1; id <= 2; id++) {
            client.postSend(request.reset(id, WrOpcode.RDMA_WRITE)
                    .addSge(client.region, 0, SMALL)
                    .remote(refused.stag(), refused.baseTaggedOffset())
                    .flush(true));
        }

        client.awaitState(QueuePairState.CLOSED);
        get(client.queuePair.disconnect());
        Cqe[] all = new Cqe[4];
        Arrays.setAll(all, i -> new Cqe());
        assertThat(client.completions.poll(all)).isEqualTo(2);
        for (int i = 0; i < 2; i++) {
            assertThat(all[i].id()).isEqualTo(i + 1);
            assertThat(all[i].opcode()).isEqualTo(WrOpcode.RDMA_WRITE);
            assertThat(all[i].status()).isNotEqualTo(CqeStatus.SUCCESS);
        }
    }

    @Test
    void closeConfirmsWritesBeforeIt() throws Exception {
        Endpoint client = new Endpoint(kernel, LENGTH);
        Endpoint server = new Endpoint(software, LENGTH);
        List<QueuePairState> states = states(client);
        client.fill(5);
        connect(client, server);
        postWrite(client, server, 1, 0, LENGTH);

        client.disconnect();

        assertThat(server.octets(0, LENGTH)).isEqualTo(client.octets(0, LENGTH));
        assertThat(client.queuePair.isUnconfirmed()).isFalse();
        assertThat(states).containsExactly(QueuePairState.RTS, QueuePairState.CLOSING, QueuePairState.CLOSED);
        assertCompletes(client, 1, WrOpcode.RDMA_WRITE, CqeStatus.SUCCESS);
        assertThat(client.completions.poll(new Cqe[] {new Cqe()})).isZero();
    }

    @Test
    void closeTellsThatPeerRefusedWrite() throws Exception {
        Endpoint client = new Endpoint(kernel, SMALL);
        Endpoint server = new Endpoint(software, SMALL);
        MemoryRegion refused = readable(server);
        List<QueuePairState> states = states(client);
        connect(client, server);
        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, SMALL)
                .remote(refused.stag(), refused.baseTaggedOffset()));

        client.disconnect();

        assertThat(states).contains(QueuePairState.TERMINATE).endsWith(QueuePairState.CLOSED);
        assertThat(client.queuePair.isUnconfirmed()).isTrue();
    }

    @Test
    void peerThatEndsTheConnectionLeavesWriteUnconfirmed() throws Exception {
        Endpoint client = new Endpoint(kernel, SMALL);
        Endpoint server = new Endpoint(software, SMALL);
        List<QueuePairState> states = states(client);
        connect(client, server);
        postWrite(client, server, 1, 0, SMALL);
        assertCompletes(client, 1, WrOpcode.RDMA_WRITE, CqeStatus.SUCCESS);

        get(server.queuePair.abort());

        client.awaitState(QueuePairState.CLOSED);
        get(client.queuePair.disconnect());
        assertThat(states).containsExactly(QueuePairState.RTS, QueuePairState.TERMINATE, QueuePairState.CLOSED);
        assertThat(client.queuePair.isUnconfirmed()).isTrue();
    }

    @Test
    void peerThatEndsTheConnectionBehindFlushIsNoError() throws Exception {
        Endpoint client = new Endpoint(kernel, SMALL);
        Endpoint server = new Endpoint(software, SMALL);
        List<QueuePairState> states = states(client);
        connect(client, server);
        postWrite(client, server, 1, 0, SMALL);
        postFlush(client, 2);
        assertCompletes(client, 1, WrOpcode.RDMA_WRITE, CqeStatus.SUCCESS);
        assertCompletes(client, 2, WrOpcode.FLUSH, CqeStatus.SUCCESS);

        server.disconnect();

        client.awaitState(QueuePairState.CLOSED);
        get(client.queuePair.disconnect());
        assertThat(states).containsExactly(QueuePairState.RTS, QueuePairState.CLOSING, QueuePairState.CLOSED);
        assertThat(client.queuePair.isUnconfirmed()).isFalse();
    }
}
