// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePairCounters;
import io.sidewarp.engine.verbs.Srq;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests Immediate Data, atomic operations, local work and shared receives of two devices on loopback. */
final class ExtensionsTest {

    private static final ListenAttributes LISTEN =
            new ListenAttributes(Llp.TCP, MpaPolicy.defaults(), 16, 16, Duration.ofSeconds(10));

    private SoftwareProvider provider;
    private Device clientDevice;
    private Device serverDevice;
    private final Wr request = new Wr();

    @BeforeEach
    void open() {
        provider = SoftwareProvider.builder().eventLoops(2).build();
        clientDevice = provider.open();
        serverDevice = provider.open();
    }

    @AfterEach
    void close() {
        clientDevice.close();
        serverDevice.close();
        provider.close();
    }

    private void connect(Endpoint client, Endpoint server) throws Exception {
        connect(client, server, ConnectionParameters.defaults());
    }

    private void connect(Endpoint client, Endpoint server, ConnectionParameters parameters) throws Exception {
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = serverDevice
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), LISTEN, asked::complete)
                .get(10, TimeUnit.SECONDS);
        CompletableFuture<?> connected = client.queuePair.connect(listener.localAddress(), parameters);
        asked.get(10, TimeUnit.SECONDS).accept(server.queuePair, parameters).get(10, TimeUnit.SECONDS);
        connected.get(10, TimeUnit.SECONDS);
        listener.close().get(10, TimeUnit.SECONDS);
    }

    private static MemoryRegion words(Endpoint endpoint) {
        return endpoint.device.registerMemory(
                endpoint.domain,
                ManagedBacking.allocate(64),
                new RegionAttributes(Set.of(AccessRight.REMOTE_ATOMIC), 0),
                0);
    }

    private static long word(MemoryRegion region, long offset) {
        return region.segment().get(ValueLayout.JAVA_LONG, offset);
    }

    @Test
    void immediateDataArrivesAloneAndBehindAWrite() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 4096);
        Endpoint server = new Endpoint(serverDevice, 4096);
        client.fill(3);
        server.postReceive(1, 0, 0);
        server.postReceive(2, 0, 0);
        connect(client, server);

        client.postSend(request.reset(5, WrOpcode.RDMA_WRITE_WITH_IMMEDIATE)
                .addSge(client.region, 0, 4096)
                .remote(server.region.stag(), 0)
                .immediate(0x1122334455667788L));
        client.postSend(request.reset(6, WrOpcode.IMMEDIATE).immediate(-1).solicited(true));

        Cqe first = server.awaitCompletion();
        assertThat(first.id()).isEqualTo(1);
        assertThat(first.isImmediate()).isTrue();
        assertThat(first.result()).isEqualTo(0x1122334455667788L);
        assertThat(first.isSolicited()).isFalse();
        assertThat(server.octets(0, 4096)).isEqualTo(client.octets(0, 4096));
        Cqe second = server.awaitCompletion();
        assertThat(second.result()).isEqualTo(-1);
        assertThat(second.isSolicited()).isTrue();
        Cqe written = client.awaitCompletion();
        assertThat(written.opcode()).isEqualTo(WrOpcode.RDMA_WRITE_WITH_IMMEDIATE);
        assertThat(written.length()).isEqualTo(4096);
        assertThat(client.awaitCompletion().opcode()).isEqualTo(WrOpcode.IMMEDIATE);
        QueuePairCounters counters = client.queuePair.counters();
        assertThat(counters.immediatesSent()).isEqualTo(2);
        assertThat(counters.writesSent()).isEqualTo(1);
    }

    @Test
    void atomicOperationsReturnTheValueBefore() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 64);
        Endpoint server = new Endpoint(serverDevice, 64);
        MemoryRegion words = words(server);
        connect(client, server);

        client.postSend(request.reset(1, WrOpcode.FETCH_ADD)
                .addSge(client.region, 16, 8)
                .remote(words.stag(), 8)
                .add(7, 0));
        client.postSend(
                request.reset(2, WrOpcode.COMPARE_SWAP).remote(words.stag(), 8).compareSwap(7, -1L, 9, -1L));

        Cqe added = client.awaitCompletion();
        assertThat(added.opcode()).isEqualTo(WrOpcode.FETCH_ADD);
        assertThat(added.length()).isEqualTo(8);
        assertThat(added.result()).isZero();
        Cqe swapped = client.awaitCompletion();
        assertThat(swapped.opcode()).isEqualTo(WrOpcode.COMPARE_SWAP);
        assertThat(swapped.result()).isEqualTo(7);
        assertThat(word(words, 8)).isEqualTo(9);
        assertThat(server.queuePair.counters().atomicsServed()).isEqualTo(2);
    }

    @Test
    void whatIsNotPossibleIsRefusedWhenItIsPosted() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 64);
        Endpoint server = new Endpoint(serverDevice, 64);
        connect(client, server, ConnectionParameters.defaults().withReadDepth(1, 0));

        assertThat(client.queuePair.postSend(
                        request.reset(1, WrOpcode.FETCH_ADD).remote(1, 0)))
                .isEqualTo(PostResult.INVALID_REQUEST);
        assertThat(client.queuePair.postSend(
                        request.reset(1, WrOpcode.IMMEDIATE).addSge(client.region, 0, 8)))
                .isEqualTo(PostResult.INVALID_REQUEST);
        assertThat(client.queuePair.postSend(request.reset(1, WrOpcode.ENABLE).enable(client.region, 1)))
                .isEqualTo(PostResult.INVALID_REQUEST);
    }

    @Test
    void anEnabledRegionIsUsedByTheWorkBehindIt() throws Exception {
        Endpoint client = new Endpoint(clientDevice, 64);
        Endpoint server = new Endpoint(serverDevice, 64);
        server.fill(8);
        connect(client, server);
        MemoryRegion sink = clientDevice.registerMemory(
                client.domain,
                ManagedBacking.allocate(64),
                new RegionAttributes(Set.of(AccessRight.LOCAL_WRITE), 0),
                client.queuePair.number());
        int key = sink.stag() + 1 & 0xFF;

        client.postSend(request.reset(1, WrOpcode.LOCAL_INVALIDATE).invalidate(sink));
        assertThat(client.awaitCompletion().opcode()).isEqualTo(WrOpcode.LOCAL_INVALIDATE);
        assertThat(client.queuePair.postSend(
                        request.reset(2, WrOpcode.RDMA_READ).addSge(sink, 0, 64).remote(server.region.stag(), 0)))
                .isEqualTo(PostResult.INVALID_REQUEST);
        client.postSend(request.reset(3, WrOpcode.ENABLE).enable(sink, key));
        client.postSend(request.reset(4, WrOpcode.RDMA_READ).addSge(sink, 0, 64).remote(server.region.stag(), 0));

        assertThat(client.awaitCompletion().opcode()).isEqualTo(WrOpcode.ENABLE);
        assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(sink.stag() & 0xFF).isEqualTo(key);
        assertThat(sink.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(server.octets(0, 64));
    }

    @Test
    void queuePairsShareReceives() throws Exception {
        Pd domain = serverDevice.allocateProtectionDomain();
        AtomicInteger told = new AtomicInteger();
        try (Srq shared = serverDevice.createSharedReceiveQueue(domain, 4)) {
            Endpoint one = new Endpoint(serverDevice, 64, 64, domain, shared);
            Endpoint two = new Endpoint(serverDevice, 64, 64, domain, shared);
            for (int id = 1; id <= 3; id++) {
                assertThat(shared.postReceive(
                                request.reset(id, WrOpcode.RECEIVE).addSge(one.region, id * 8L, 8)))
                        .isEqualTo(PostResult.POSTED);
            }
            assertThat(one.queuePair.postReceive(request.reset(9, WrOpcode.RECEIVE)))
                    .isEqualTo(PostResult.INVALID_REQUEST);
            shared.armLimit(2, told::incrementAndGet);
            Endpoint left = new Endpoint(clientDevice, 64);
            Endpoint right = new Endpoint(clientDevice, 64);
            connect(left, one);
            connect(right, two);

            left.postSend(request.reset(1, WrOpcode.SEND).addSge(left.region, 0, 3));
            assertThat(one.awaitCompletion().id()).isEqualTo(1);
            assertThat(told).hasValue(0);
            right.postSend(request.reset(1, WrOpcode.SEND).addSge(right.region, 0, 4));
            Cqe second = two.awaitCompletion();

            assertThat(second.id()).isEqualTo(2);
            assertThat(second.length()).isEqualTo(4);
            assertThat(second.queuePair()).isEqualTo(two.queuePair.number());
            Awaitility.await().until(() -> told.get() == 1);
            assertThat(shared.size()).isEqualTo(1);
            assertThatThrownBy(shared::close).isInstanceOf(IllegalStateException.class);
            one.queuePair.abort().get(10, TimeUnit.SECONDS);
            two.queuePair.abort().get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void aProtectionDomainStaysWhileASharedReceiveQueueUsesIt() {
        Pd domain = serverDevice.allocateProtectionDomain();
        Srq shared = serverDevice.createSharedReceiveQueue(domain, 4);

        assertThatThrownBy(() -> serverDevice.deallocateProtectionDomain(domain))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("1 shared receive queues");
        shared.close();
        shared.close();

        serverDevice.deallocateProtectionDomain(domain);
        assertThatThrownBy(() -> serverDevice.createSharedReceiveQueue(domain, 4))
                .isInstanceOf(IllegalStateException.class);
    }
}
