// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.ListenOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.LowerLayerProtocol;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.support.Capture;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.SctpVerdict;
import io.sidewarp.e2e.support.SidecarProcess;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Records connections of two packaged sidecars over SCTP in UDP, and checks the packets with tshark. */
@ExtendWith(Logs.class)
class SctpCaptureIT {

    private static final int REGION = 1 << 20;
    private static final int CONNECTIONS = 3;

    private static int udpPort;
    private static SidecarProcess left;
    private static SidecarProcess right;

    @BeforeAll
    static void startSidecars() {
        udpPort = Ports.freeUdp();
        left = SidecarProcess.with("left").set("sidewarp.sctp.udp-port", "0").start();
        right = SidecarProcess.with("right")
                .set("sidewarp.sctp.udp-port", Integer.toString(udpPort))
                .start();
    }

    @AfterAll
    static void stopSidecars() {
        left.close();
        right.close();
    }

    @Test
    @Requirement({
        "SCTP-5.1-01",
        "SCTP-5.1-02",
        "SCTP-5.2-01",
        "SCTP-7.2-01",
        "SCTP-8-01",
        "SCTP-9-03",
        "SCTP-10-01",
        "UDP-5.3-01",
        "UDP-5.3-02",
        "UDP-5.7-01",
        "DDP-3-10"
    })
    void tsharkFindsNothingWrongInAnAssociationOfSeveralConnections() {
        try (Capture capture = Capture.startSctp("sctp", udpPort)) {
            moveData();
            capture.stopBehindTheAssociation();

            assertThat(capture.fields("sctp.chunk_type == 1", "frame.number"))
                    .as("one association for all connections")
                    .hasSize(1);
            Set<String> streams = new HashSet<>();
            streams.addAll(SctpVerdict.values(capture, "sctp.chunk_type == 1", "sctp.init_nr_out_streams"));
            streams.addAll(SctpVerdict.values(capture, "sctp.chunk_type == 1", "sctp.init_nr_in_streams"));
            streams.addAll(SctpVerdict.values(capture, "sctp.chunk_type == 2", "sctp.initack_nr_out_streams"));
            streams.addAll(SctpVerdict.values(capture, "sctp.chunk_type == 2", "sctp.initack_nr_in_streams"));
            assertThat(streams).hasSize(1);
            SctpVerdict.assertSound(capture);
        }
    }

    private static void moveData() {
        try (SidewarpClient leftClient = left.client();
                SidewarpClient rightClient = right.client();
                Session here = leftClient.openSession("here");
                Session there = rightClient.openSession("there")) {
            SharedRegion local = here.createSharedRegion("local", REGION);
            SharedRegion sink = here.createSharedRegion("sink", REGION, Access.LOCAL_WRITE);
            SharedRegion remote = there.createSharedRegion("remote", REGION, Access.REMOTE_READ, Access.REMOTE_WRITE);
            Pattern.fill(local.segment(), 1);
            List<Connection> connections = new ArrayList<>();
            ListenOptions sctp = ListenOptions.defaults().withLlp(LowerLayerProtocol.SCTP);
            try (Listener listener =
                    there.listen(Link.LOOPBACK, 0, sctp, request -> request.accept(ConnectionOptions.defaults()))) {
                ConnectionOptions options = ConnectionOptions.builder()
                        .llp(LowerLayerProtocol.SCTP)
                        .udpPort(listener.udpPort())
                        .build();
                for (int i = 0; i < CONNECTIONS; i++) {
                    connections.add(here.connect(Link.LOOPBACK, listener.port(), options));
                }
            }
            for (Connection connection : connections) {
                remote.segment().fill((byte) 0);
                connection.write(local.slice(0, REGION), remote.address());
                connection.read(sink.slice(0, REGION), remote.address());
                assertThat(remote.segment().mismatch(local.segment())).isEqualTo(-1);
                assertThat(sink.segment().mismatch(local.segment())).isEqualTo(-1);
            }
            connections.forEach(Connection::close);
        }
    }
}
