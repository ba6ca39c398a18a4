// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.testing.RoutedNetwork;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Tests a path whose MTU becomes smaller while connections use it, as a router reports by ICMP. */
@EnabledIf("io.sidewarp.engine.testing.RoutedNetwork#isPermitted")
class NarrowingPathTest {

    /** EMSS 8948 and 1448, with the option of time stamps. */
    private static final int JUMBO_MULPDU = 8942;

    private static final int ETHERNET_MTU = 1500;
    private static final int ETHERNET_MULPDU = 1442;

    private static final int WRITE = 16 << 10;
    private static final int WRITES = 20;
    private static final int TAGGED_HEADER = 14;

    @AutoClose
    private final RoutedNetwork network = new RoutedNetwork();

    @AutoClose
    private final SoftwareProvider provider = SoftwareProvider.builder()
            .settings(SoftwareSettings.defaults().withNet(NetSettings.defaults().withBusyPoll(Duration.ZERO)))
            .eventLoops(1)
            .build();

    @AutoClose
    private final Device device = provider.open();

    @AutoClose
    private final ExecutorService right = Executors.newSingleThreadExecutor();

    private final Wr request = new Wr();

    NarrowingPathTest() throws Exception {}

    @Test
    @Requirement({"MPA-4.5-02", "DDP-3-01"})
    void mulpduFollowsThePathOfAConnectionThatSendsSeldom() throws Exception {
        RoutedNetwork.Host.LEFT.enter(((SoftwareDevice) device).loops().choose());
        RoutedNetwork.Host.RIGHT.enter(right);
        Endpoint endpoint = new Endpoint(device, WRITE);
        InetSocketAddress address = new InetSocketAddress(RoutedNetwork.Host.RIGHT.address(), 4791);
        try (ServerSocket server =
                        right.submit(() -> new ServerSocket(address.getPort())).get(10, TimeUnit.SECONDS);
                Socket peer = connect(endpoint, server, address)) {
            DataInputStream in = new DataInputStream(peer.getInputStream());
            for (int i = 0; i < WRITES; i++) {
                assertThat(writeAndTake(endpoint, in)).contains(JUMBO_MULPDU).allMatch(size -> size <= JUMBO_MULPDU);
            }

            network.setMtu(ETHERNET_MTU);
            // The kernel hears of the change by what this sends.
            writeAndTake(endpoint, in);

            Awaitility.await()
                    .untilAsserted(() ->
                            assertThat(endpoint.queuePair.attributes().mulpdu()).isEqualTo(ETHERNET_MULPDU));
            assertThat(writeAndTake(endpoint, in)).contains(ETHERNET_MULPDU).allMatch(size -> size <= ETHERNET_MULPDU);
        }
    }

    private static Socket connect(Endpoint endpoint, ServerSocket server, InetSocketAddress address) throws Exception {
        CompletableFuture<?> connected = endpoint.queuePair.connect(address, ConnectionParameters.defaults());
        Socket peer = server.accept();
        peer.setSoTimeout(10_000);
        peer.getInputStream().readNBytes(20);
        byte[] reply = new byte[20];
        System.arraycopy("MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII), 0, reply, 0, 16);
        reply[16] = 0x40;
        reply[17] = 1;
        peer.getOutputStream().write(reply);
        connected.get(10, TimeUnit.SECONDS);
        return peer;
    }

    /** Writes once, and returns the lengths of the ULPDUs that the peer got. */
    private List<Integer> writeAndTake(Endpoint endpoint, DataInputStream in) throws IOException {
        endpoint.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(endpoint.region, 0, WRITE)
                .remote(1, 0));
        assertThat(endpoint.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        List<Integer> lengths = new ArrayList<>();
        for (int payload = 0; payload < WRITE; payload += lengths.getLast() - TAGGED_HEADER) {
            int length = in.readUnsignedShort();
            in.skipNBytes(length + (-(Short.BYTES + length) & 3) + Integer.BYTES);
            lengths.add(length);
        }
        return lengths;
    }
}
