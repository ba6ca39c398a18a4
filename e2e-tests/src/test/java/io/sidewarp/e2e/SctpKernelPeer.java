// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.ListenOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.LowerLayerProtocol;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.e2e.support.KernelPeer;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.SiwGuest;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Base class of the tests against the SCTP of the Linux kernel. Provides the guest, and a packaged sidecar whose
 * application listens and decides as each test needs.
 */
@ExtendWith(Logs.class)
abstract class SctpKernelPeer {

    static final int REGION_OCTETS = 1 << 17;

    static SiwGuest guest;
    static SidecarProcess sidecar;
    static Session session;
    static ManagedRegion region;

    private static final BlockingQueue<IncomingConnection> REQUESTS = new LinkedBlockingQueue<>();

    private static int udpPort;
    private static SidewarpClient client;
    private static Listener listener;

    @BeforeAll
    static void startSidecar() {
        guest = SiwGuest.get();
        udpPort = Ports.freeUdp();
        sidecar = SidecarProcess.with("sctp-kernel")
                .set("sidewarp.sctp.udp-port", Integer.toString(udpPort))
                // MTU of the guest's interface. The loopback interface in front of it has a larger MTU.
                .set("sidewarp.advanced.sctp.max-path-mtu", "1500")
                .start();
        client = sidecar.client();
        session = client.openSession("sctp-kernel");
        region = session.registerManaged(REGION_OCTETS, Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
        REQUESTS.clear();
        listener = session.listen(
                Link.LOOPBACK, 0, ListenOptions.defaults().withLlp(LowerLayerProtocol.SCTP), REQUESTS::add);
    }

    @AfterAll
    static void stopSidecar() {
        if (client != null) {
            client.close();
        }
        if (sidecar != null) {
            sidecar.close();
        }
    }

    /** A peer that the application of the sidecar connects to. */
    static KernelPeer listening(String... commands) {
        return KernelPeer.listen(guest, List.of(), commands);
    }

    /** A peer that begins an association with the sidecar. */
    static KernelPeer connecting(String... commands) {
        return connecting(List.of(), commands);
    }

    static KernelPeer connecting(List<String> options, String... commands) {
        return connecting(listener, options, commands);
    }

    static KernelPeer connecting(Listener target, List<String> options, String... commands) {
        return KernelPeer.connect(guest, target.port(), udpPort, options, commands);
    }

    static int udpPort() {
        return udpPort;
    }

    static ConnectionOptions.Builder overSctp() {
        return ConnectionOptions.builder().llp(LowerLayerProtocol.SCTP).udpPort(guest.sctpUdpPort());
    }

    static Connection connect(KernelPeer peer, ConnectionOptions.Builder options) {
        return session.connect(Link.LOOPBACK, peer.port(), options.build());
    }

    static IncomingConnection nextRequest() {
        try {
            IncomingConnection request = REQUESTS.poll(Patience.LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(request).as("connection request").isNotNull();
            return request;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    static void assertNoRequest() {
        assertThat(REQUESTS).isEmpty();
    }
}
