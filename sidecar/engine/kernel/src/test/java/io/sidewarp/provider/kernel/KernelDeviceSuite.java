// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.memory.RegionBacking;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.PeerRejectedException;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.ReadDepths;
import io.sidewarp.engine.verbs.Srq;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests the verbs of the kernel's soft-iWARP, with itself and with the software provider as its peer. */
final class KernelDeviceSuite extends KernelSuite {

    private static final int MIB = 1 << 20;

    private void moveData(Device clients, Device servers) throws Exception {
        Endpoint client = new Endpoint(clients, 4 * MIB);
        Endpoint server = new Endpoint(servers, 4 * MIB);
        client.fill(1);
        server.postReceive(7, 3 * MIB, 1000);
        connect(client, server);

        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, MIB + 13)
                .remote(server.region.stag(), target(server, 5)));
        client.postSend(request.reset(2, WrOpcode.RDMA_READ)
                .addSge(client.region, 2 * MIB, MIB)
                .remote(server.region.stag(), target(server, 6)));
        client.postSend(request.reset(3, WrOpcode.SEND)
                .addSge(client.region, 100, 500)
                .addSge(client.region, 600, 400)
                .solicited(true));

        for (long id = 1; id <= 3; id++) {
            Cqe done = client.awaitCompletion();
            assertThat(done.id()).isEqualTo(id);
            assertThat(done.status()).isEqualTo(CqeStatus.SUCCESS);
        }
        Cqe received = server.awaitCompletion();
        assertThat(received.id()).isEqualTo(7);
        assertThat(received.opcode()).isEqualTo(WrOpcode.RECEIVE);
        assertThat(received.length()).isEqualTo(900);
        assertThat(server.octets(5, MIB + 13)).isEqualTo(client.octets(0, MIB + 13));
        assertThat(client.octets(2 * MIB, MIB)).isEqualTo(client.octets(1, MIB));
        assertThat(server.octets(3 * MIB, 900)).isEqualTo(client.octets(100, 900));

        client.disconnect();
        server.awaitState(QueuePairState.CLOSED);
    }

    @Test
    void movesDataToItself() throws Exception {
        moveData(kernel, kernel);
    }

    @Test
    void movesDataToTheSoftwareProvider() throws Exception {
        moveData(kernel, software);
    }

    @Test
    void movesDataFromTheSoftwareProvider() throws Exception {
        moveData(software, kernel);
    }

    @Test
    void readsFromAPeerThatConnectedWithoutTellingItsDepths() throws Exception {
        Endpoint client = new Endpoint(software, 64);
        Endpoint server = new Endpoint(kernel, 64);
        client.fill(5);
        connect(client, server);

        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, 8)
                .remote(server.region.stag(), target(server, 0)));
        client.awaitCompletion();
        server.postSend(request.reset(2, WrOpcode.RDMA_READ)
                .addSge(server.region, 0, 64)
                .remote(client.region.stag(), target(client, 0)));

        assertThat(server.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        assertThat(server.octets(0, 64)).isEqualTo(client.octets(0, 64));
    }

    @Test
    void tellsItsLimitsAndWhatItLacks() {
        assertThat(kernel.attributes().provider()).isEqualTo(KernelProvider.NAME);
        assertThat(kernel.attributes().llps()).containsExactly(Llp.TCP);
        assertThat(kernel.attributes().maxSge()).isBetween(1, Wr.MAX_SGE);
        assertThat(kernel.attributes().maxOrd()).isBetween(1, 255);
        assertThat(kernel.attributes().extensions()).isFalse();
        assertThat(kernel.absence(Llp.SCTP))
                .hasValueSatisfying(text -> assertThat(text).contains("TCP only"));
    }

    @Test
    void tellsBothSidesWhatWasAgreed() throws Exception {
        Endpoint client = new Endpoint(kernel, 16);
        Endpoint server = new Endpoint(kernel, 16);
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = listen(kernel, asked);
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(
                listener.localAddress(),
                ConnectionParameters.defaults()
                        .withPrivateData(new byte[] {1, 2})
                        .withReadDepth(3, 5));

        ConnectionRequest arrived = get(asked);
        assertThat(arrived.privateData()).containsExactly(1, 2);
        assertThat(arrived.peerDepths()).isEqualTo(new ReadDepths(OptionalInt.of(3), OptionalInt.of(5)));
        get(arrived.accept(server.queuePair, ConnectionParameters.defaults().withPrivateData(new byte[] {3, 4, 5})));

        ConnectionAttributes agreed = get(connected);
        assertThat(agreed.privateData()).containsExactly(3, 4, 5);
        assertThat(agreed.ird()).isEqualTo(3);
        assertThat(agreed.ord()).isEqualTo(5);
        assertThat(agreed.remoteAddress()).isEqualTo(listener.localAddress());
        assertThat(server.queuePair.attributes().remoteAddress()).isEqualTo(agreed.localAddress());
    }

    @Test
    void givesTheRejectionsPrivateData() throws Exception {
        Endpoint client = new Endpoint(kernel, 16);
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = listen(kernel, asked);
        CompletableFuture<ConnectionAttributes> connected =
                client.queuePair.connect(listener.localAddress(), ConnectionParameters.defaults());

        ConnectionRequest arrived = get(asked);
        get(arrived.reject(new byte[] {1, 2, 3}));

        assertThat(arrived.over()).isDone();
        assertThatThrownBy(() -> get(connected))
                .cause()
                .isInstanceOfSatisfying(
                        PeerRejectedException.class,
                        rejected -> assertThat(rejected.privateData()).containsExactly(1, 2, 3));
        client.awaitState(QueuePairState.CLOSED);
    }

    @Test
    void aListenerThatClosesRefusesWhoWaits() throws Exception {
        Endpoint client = new Endpoint(kernel, 16);
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = listen(kernel, asked);
        CompletableFuture<ConnectionAttributes> connected =
                client.queuePair.connect(listener.localAddress(), ConnectionParameters.defaults());
        ConnectionRequest arrived = get(asked);

        get(listener.close());

        assertThat(arrived.over()).isDone();
        assertThatThrownBy(() -> get(connected)).cause().isInstanceOf(PeerRejectedException.class);
        assertThatThrownBy(() -> get(arrived.accept(client.queuePair, ConnectionParameters.defaults())))
                .cause()
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        failed -> assertThat(failed.kind()).isEqualTo(Kind.LAPSED));
    }

    @Test
    void saysWhyNobodyAnswers() throws Exception {
        Endpoint client = new Endpoint(kernel, 16);
        InetSocketAddress nobody = new InetSocketAddress(address(), 1);

        assertFails(client.queuePair.connect(nobody, ConnectionParameters.defaults()), Kind.REFUSED);
        client.awaitState(QueuePairState.CLOSED);
        assertThat(client.domain.queuePairs()).isZero();
    }

    @Test
    void refusesWhatADeviceOfTheKernelCannotDo() throws Exception {
        Endpoint client = new Endpoint(kernel, 16);
        InetSocketAddress nobody = new InetSocketAddress(address(), 1);
        ConnectionParameters defaults = ConnectionParameters.defaults();

        for (ConnectionParameters impossible : List.of(
                defaults.withLlp(Llp.SCTP),
                defaults.withMpa(mpa -> mpa.withReceiveMarkers(true)),
                defaults.withPrivateData(new byte[300]),
                defaults.withReadDepth(100_000, 1))) {
            assertFails(new Endpoint(kernel, 16).queuePair.connect(nobody, impossible), Kind.INVALID_PARAMETERS);
        }
        for (RegionAttributes impossible : List.of(
                new RegionAttributes(Set.of(AccessRight.REMOTE_ATOMIC), 0),
                new RegionAttributes(Set.of(AccessRight.REMOTE_INVALIDATE), 0),
                new RegionAttributes(Set.of(), 4096))) {
            RegionBacking backing = ManagedBacking.allocate(16);
            assertThatThrownBy(() -> kernel.registerMemory(client.domain, backing, impossible, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            backing.close();
        }
        assertThat(client.domain.regions()).isEqualTo(1);
    }

    private static void assertFails(CompletableFuture<ConnectionAttributes> connected, Kind expected) {
        assertThatThrownBy(() -> get(connected))
                .cause()
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        failed -> assertThat(failed.kind()).isEqualTo(expected));
    }

    @Test
    void endsTheConnectionWhenAReadIsOutOfBounds() throws Exception {
        Endpoint client = new Endpoint(kernel, 64);
        Endpoint server = new Endpoint(software, 64);
        connect(client, server);
        server.postReceive(9, 0, 64);

        client.postSend(request.reset(1, WrOpcode.RDMA_READ)
                .addSge(client.region, 0, 32)
                .remote(server.region.stag(), target(server, 40)));

        assertThat(client.awaitCompletion().status()).isNotEqualTo(CqeStatus.SUCCESS);
        assertThat(server.awaitCompletion().status()).isEqualTo(CqeStatus.FLUSHED);
        client.awaitState(QueuePairState.CLOSED);
        server.awaitState(QueuePairState.CLOSED);
    }

    @Test
    void aPeerMayNotWriteWhereItHasNoRight() throws Exception {
        Endpoint client = new Endpoint(software, 64);
        Endpoint server = new Endpoint(kernel, 64);
        var readable = kernel.registerMemory(
                server.domain,
                ManagedBacking.allocate(64),
                new RegionAttributes(Set.of(AccessRight.REMOTE_READ), 0),
                0);
        connect(client, server);

        client.fill(3);
        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, 32)
                .remote(readable.stag(), readable.baseTaggedOffset()));

        server.awaitState(QueuePairState.CLOSED);
        client.awaitState(QueuePairState.CLOSED);
        assertThat(readable.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void carriesOutEverythingBeforeItDisconnects() throws Exception {
        Endpoint client = new Endpoint(kernel, MIB);
        Endpoint server = new Endpoint(kernel, MIB);
        client.fill(2);
        connect(client, server);
        int part = MIB / 128;
        for (int i = 0; i < 128; i++) {
            client.postSend(request.reset(i, WrOpcode.RDMA_WRITE)
                    .addSge(client.region, (long) i * part, part)
                    .remote(server.region.stag(), target(server, (long) i * part)));
        }

        client.disconnect();

        server.awaitState(QueuePairState.CLOSED);
        for (int i = 0; i < 128; i++) {
            Cqe done = client.awaitCompletion();
            assertThat(done.id()).isEqualTo(i);
            assertThat(done.status()).isEqualTo(CqeStatus.SUCCESS);
        }
        assertThat(server.octets(0, MIB)).isEqualTo(client.octets(0, MIB));
        assertThat(client.queuePair.counters().writesSent()).isEqualTo(128);
        assertThat(client.queuePair.counters().octetsSent()).isEqualTo(MIB);
    }

    @Test
    void flushesOutstandingWorkWhenThePeerAborts() throws Exception {
        Endpoint client = new Endpoint(kernel, 64);
        Endpoint server = new Endpoint(kernel, 64);
        connect(client, server);
        client.postReceive(1, 0, 32);
        client.postReceive(2, 32, 32);

        get(server.queuePair.abort());

        for (long id = 1; id <= 2; id++) {
            Cqe flushed = client.awaitCompletion();
            assertThat(flushed.id()).isEqualTo(id);
            assertThat(flushed.status()).isEqualTo(CqeStatus.FLUSHED);
        }
        client.awaitState(QueuePairState.CLOSED);
        assertThat(client.queuePair.postSend(request.reset(3, WrOpcode.SEND))).isEqualTo(PostResult.INVALID_STATE);
    }

    @Test
    void flushesReceivesOfAQueuePairThatWasNeverConnected() throws Exception {
        Endpoint lonely = new Endpoint(kernel, 64);
        lonely.postReceive(1, 0, 32);

        get(lonely.queuePair.abort());

        Cqe flushed = lonely.awaitCompletion();
        assertThat(flushed.id()).isEqualTo(1);
        assertThat(flushed.status()).isEqualTo(CqeStatus.FLUSHED);
    }

    @Test
    void tellsOfCompletionsOnceAskedAndNotOfUnsignaledOnes() throws Exception {
        Endpoint client = new Endpoint(kernel, 64);
        Endpoint server = new Endpoint(kernel, 64);
        connect(client, server);
        CountDownLatch told = new CountDownLatch(1);

        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, 64)
                .remote(server.region.stag(), target(server, 0))
                .signaled(false));
        client.completions.requestNotification(told::countDown, false);
        client.postSend(request.reset(2, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, 64)
                .remote(server.region.stag(), target(server, 0)));

        assertThat(client.awaitCompletion().id()).isEqualTo(2);
        assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
        CountDownLatch toldAtOnce = new CountDownLatch(1);
        client.postSend(request.reset(3, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, 64)
                .remote(server.region.stag(), target(server, 0)));
        server.awaitState(QueuePairState.RTS);
        client.completions.requestNotification(toldAtOnce::countDown, false);
        assertThat(toldAtOnce.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(client.awaitCompletion().id()).isEqualTo(3);
    }

    @Test
    void queuePairsShareReceives() throws Exception {
        Pd domain = kernel.allocateProtectionDomain();
        Srq shared = kernel.createSharedReceiveQueue(domain, 16);
        Endpoint client = new Endpoint(software, 64);
        Endpoint server = new Endpoint(kernel, 64, 64, domain, shared);
        assertThat(shared.postReceive(request.reset(5, WrOpcode.RECEIVE).addSge(server.region, 0, 32)))
                .isEqualTo(PostResult.POSTED);
        assertThat(server.queuePair.postReceive(
                        request.reset(6, WrOpcode.RECEIVE).addSge(server.region, 0, 32)))
                .isEqualTo(PostResult.INVALID_REQUEST);
        CountDownLatch few = new CountDownLatch(1);
        shared.armLimit(1, few::countDown);
        connect(client, server);
        client.fill(4);

        client.postSend(request.reset(1, WrOpcode.SEND).addSge(client.region, 0, 20));

        Cqe received = server.awaitCompletion();
        assertThat(received.id()).isEqualTo(5);
        assertThat(received.queuePair()).isEqualTo(server.queuePair.number());
        assertThat(received.length()).isEqualTo(20);
        assertThat(server.octets(0, 20)).isEqualTo(client.octets(0, 20));
        assertThat(few.await(10, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(shared::close).isInstanceOf(IllegalStateException.class);
        get(server.queuePair.abort());
        shared.close();
    }

    @Test
    void givesEverythingBack() throws Exception {
        String before = resources();
        for (int round = 0; round < 3; round++) {
            Endpoint client = new Endpoint(kernel, 4096);
            Endpoint server = new Endpoint(kernel, 4096);
            connect(client, server);
            assertThat(resources()).isNotEqualTo(before);
            client.disconnect();
            server.awaitState(QueuePairState.CLOSED);
            for (Endpoint endpoint : List.of(client, server)) {
                get(kernel.deregisterMemory(endpoint.region));
                endpoint.completions.close();
                kernel.deallocateProtectionDomain(endpoint.domain);
            }
        }
        Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(resources()).isEqualTo(before));
    }

    /** Returns the numbers of protection domains, queues, connections and regions of the device that are in use. */
    private static String resources() throws IOException {
        Process tool = new ProcessBuilder("rdma", "resource", "show", DEVICE)
                .redirectErrorStream(true)
                .start();
        return new String(tool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
