// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static io.sidewarp.engine.testing.OwnMemory.PAGE;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.memory.RegionState;
import io.sidewarp.engine.testing.OwnMemory;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests two devices whose regions lie in memory of a process, over TCP on loopback. */
final class ProcessRegionsTest {

    private static final ListenAttributes LISTEN =
            new ListenAttributes(Llp.TCP, MpaPolicy.defaults(), 16, 16, Duration.ofSeconds(10));
    private static final int PAGES = 100;
    private static final int LENGTH = (int) (PAGES * PAGE) - 13;
    private static final long BEGIN = 5;

    private final OwnMemory clientMemory = new OwnMemory(PAGES);
    private final OwnMemory serverMemory = new OwnMemory(PAGES);
    private final Wr request = new Wr();
    private SoftwareProvider provider;
    private Endpoint client;
    private Endpoint server;
    private MemoryRegion clientRegion;
    private MemoryRegion serverRegion;

    @BeforeEach
    void open() {
        provider = SoftwareProvider.builder().eventLoops(2).build();
        client = new Endpoint(provider.open(), 64);
        server = new Endpoint(provider.open(), 64);
        clientRegion = register(client, clientMemory);
        serverRegion = register(server, serverMemory);
    }

    private static MemoryRegion register(Endpoint endpoint, OwnMemory memory) {
        return endpoint.device.registerMemory(
                endpoint.domain,
                memory.backing(BEGIN, LENGTH),
                new RegionAttributes(EnumSet.complementOf(EnumSet.of(AccessRight.REMOTE_INVALIDATE)), 1L << 40),
                0);
    }

    @AfterEach
    void close() {
        client.device.close();
        server.device.close();
        provider.close();
        clientMemory.close();
        serverMemory.close();
    }

    private void connect() throws Exception {
        Device device = server.device;
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = device.listen(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), LISTEN, asked::complete)
                .get(10, TimeUnit.SECONDS);
        ConnectionParameters parameters = ConnectionParameters.defaults();
        CompletableFuture<?> connected = client.queuePair.connect(listener.localAddress(), parameters);
        asked.get(10, TimeUnit.SECONDS).accept(server.queuePair, parameters).get(10, TimeUnit.SECONDS);
        connected.get(10, TimeUnit.SECONDS);
        listener.close().get(10, TimeUnit.SECONDS);
    }

    private static void fill(OwnMemory memory, long seed) {
        byte[] octets = new byte[LENGTH];
        new Random(seed).nextBytes(octets);
        MemorySegment.copy(octets, 0, memory.segment(), ValueLayout.JAVA_BYTE, BEGIN, LENGTH);
    }

    private static byte[] octets(OwnMemory memory) {
        return memory.segment().asSlice(BEGIN, LENGTH).toArray(ValueLayout.JAVA_BYTE);
    }

    private void assertSuccess() {
        assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
    }

    @Test
    void writesAndReadsMoveBetweenProcesses() throws Exception {
        fill(clientMemory, 1);
        connect();

        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(clientRegion, 0, LENGTH)
                .remote(serverRegion.stag(), 1L << 40));
        client.postSend(request.reset(2, WrOpcode.FLUSH));
        assertSuccess();
        assertSuccess();
        assertThat(octets(serverMemory)).isEqualTo(octets(clientMemory));

        fill(serverMemory, 2);
        client.postSend(request.reset(3, WrOpcode.RDMA_READ)
                .addSge(clientRegion, 0, LENGTH)
                .remote(serverRegion.stag(), 1L << 40));
        assertSuccess();
        assertThat(octets(clientMemory)).isEqualTo(octets(serverMemory));
        assertThat(serverMemory.segment().asSlice(0, BEGIN).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(0);
    }

    @Test
    void aSendArrivesInTheReceiveOfAProcess() throws Exception {
        fill(clientMemory, 3);
        assertThat(server.queuePair.postReceive(request.reset(9, WrOpcode.RECEIVE)
                        .addSge(serverRegion, 0, 1000)
                        .addSge(serverRegion, 1000, LENGTH - 1000)))
                .isEqualTo(PostResult.POSTED);
        connect();

        client.postSend(request.reset(1, WrOpcode.SEND).addSge(clientRegion, 0, LENGTH));

        Cqe received = server.awaitCompletion();
        assertThat(received.status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(received.length()).isEqualTo(LENGTH);
        assertThat(octets(serverMemory)).isEqualTo(octets(clientMemory));
    }

    @Test
    void atomicOperationsChangeTheMemoryOfAProcess() throws Exception {
        connect();
        // The region begins at an odd address; offset 3 is aligned.
        for (int i = 0; i < 10; i++) {
            client.postSend(request.reset(i, WrOpcode.FETCH_ADD)
                    .addSge(clientRegion, 3, 8)
                    .remote(serverRegion.stag(), (1L << 40) + 3)
                    .add(5, 0));
            assertThat(client.awaitCompletion().result()).isEqualTo(i * 5L);
        }

        assertThat(serverMemory.segment().get(ValueLayout.JAVA_LONG, BEGIN + 3)).isEqualTo(50);
        assertThat(clientMemory.segment().get(ValueLayout.JAVA_LONG, BEGIN + 3)).isEqualTo(45);
    }

    @Test
    void unmappedMemoryEndsItsRegionAndItsConnection() throws Exception {
        connect();
        serverMemory.unmap(50);

        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(clientRegion, 0, LENGTH)
                .remote(serverRegion.stag(), 1L << 40));

        // The Write is complete when it is sent, which may be before the end.
        client.awaitCompletion();
        client.awaitState(QueuePairState.CLOSED);
        Awaitility.await().until(() -> serverRegion.state() == RegionState.FAULTED);
        assertThat(serverRegion.faultText()).contains("the process has unmapped 0x");
        assertThat(clientRegion.state()).isEqualTo(RegionState.VALID);
    }

    @Test
    void unmappedSourceFailsTheWork() throws Exception {
        connect();
        clientMemory.unmap(50);

        client.postSend(request.reset(1, WrOpcode.SEND).addSge(clientRegion, 0, LENGTH));

        assertThat(client.awaitCompletion().status()).isNotEqualTo(CqeStatus.SUCCESS);
        assertThat(clientRegion.state()).isEqualTo(RegionState.FAULTED);
    }
}
