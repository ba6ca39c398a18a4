// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Listener;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.RdmaErrorInfo;
import io.sidewarp.client.RegionOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.e2e.support.Bystander;
import io.sidewarp.e2e.support.Events;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.wire.MpaFrame;
import io.sidewarp.e2e.wire.Octets;
import io.sidewarp.e2e.wire.RawPeer;
import io.sidewarp.e2e.wire.Ulpdu;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Base class of tests with peers that break the rules. Provides a packaged sidecar whose application accepts all peers,
 * a peer that sends bytes which a test composes, and a bystander. The bystander's transfers must continue after each
 * test.
 */
@ExtendWith(Logs.class)
abstract class MisbehavingPeer {

    static final byte[] NOTHING = {};

    /** Tagged offset of the first octet of {@link #region}: not zero, so that offsets below it exist. */
    static final long BASE = 0x7_0000_1000L;

    static final int REGION_OCTETS = 8192;

    static Session session;
    /** Permits everything. */
    static ManagedRegion region;

    static SidecarProcess sidecar;
    static int port;
    static final BlockingQueue<IncomingConnection> REQUESTS = new LinkedBlockingQueue<>();

    private static SidewarpClient client;
    private static Listener listener;
    private static Bystander bystander;
    private static Events events;

    @BeforeAll
    static void startSidecar() {
        sidecar = SidecarProcess.with("victim")
                .allowCrcOff()
                // A long timeout, so that the sidecar ends a connection only because of what the peer has sent.
                .set("sidewarp.connection.timeout", "1h")
                .start();
        client = sidecar.client();
        session = client.openSession("victim");
        events = Events.of(session);
        region = session.registerManaged(
                REGION_OCTETS,
                RegionOptions.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE)
                        .withBaseTaggedOffset(BASE));
        REQUESTS.clear();
        listener = session.listen(Link.LOOPBACK, 0, REQUESTS::add);
        port = listener.port();
        bystander = new Bystander(sidecar, sidecar);
    }

    @AfterAll
    static void stopSidecar() {
        if (bystander != null) {
            bystander.close();
        }
        if (client != null) {
            client.close();
        }
        if (sidecar != null) {
            sidecar.close();
        }
    }

    @AfterEach
    void theConnectionsOfOthersGoOn() {
        bystander.awaitProgress();
    }

    /**
     * A stream in full operation.
     *
     * @param peer the end that the test plays
     * @param connection the sidecar's end, as its application sees it
     */
    record RawStream(RawPeer peer, Connection connection) implements AutoCloseable {

        /** The Terminate comes exactly so, then the close and nothing else, and the application learns the same. */
        void assertTerminated(byte[] expected) throws IOException {
            assertThat(Octets.text(peer.receiveTerminate())).isEqualTo(Octets.text(expected));
            assertThat(peer.receiveRest()).as("octets behind the Terminate").isEmpty();
            int control = Ulpdu.UNTAGGED_HEADER;
            RdmaErrorInfo error = awaitError(connection);
            assertThat(error.layer()).isEqualTo(expected[control] >> 4);
            assertThat(error.type()).isEqualTo(expected[control] & 0x0F);
            assertThat(error.code()).isEqualTo(expected[control + 1] & 0xFF);
            assertThat(error.remote()).isFalse();
        }

        @Override
        public void close() {
            peer.close();
            Patience.get(connection.closed());
        }
    }

    static RawStream open() throws Exception {
        return open(ConnectionOptions.defaults());
    }

    static RawStream open(ConnectionOptions options) throws Exception {
        return open(RawPeer.connect(port), MpaFrame.CRC, options);
    }

    /** Starts up with the given flags of the Request, and enters what both sides agreed on. */
    static RawStream open(RawPeer peer, int flags, ConnectionOptions options) throws Exception {
        return open(peer, flags, request -> request.accept(options));
    }

    /** Starts up with a connection that was created before. */
    static RawStream open(Connection created) throws Exception {
        return open(RawPeer.connect(port), MpaFrame.CRC, request -> request.accept(created));
    }

    private static RawStream open(RawPeer peer, int flags, Function<IncomingConnection, Connection> accept)
            throws Exception {
        peer.sendOctets(MpaFrame.request(flags, NOTHING).encode());
        Connection connection = accept.apply(nextRequest());
        MpaFrame reply = peer.readFrame();
        assertThat(reply.key()).isEqualTo(MpaFrame.REPLY_KEY);
        assertThat(reply.has(MpaFrame.REJECT)).isFalse();
        boolean crc = (flags & MpaFrame.CRC) != 0 || reply.has(MpaFrame.CRC);
        peer.enterFullOperation(crc, reply.has(MpaFrame.MARKERS), (flags & MpaFrame.MARKERS) != 0);
        return new RawStream(peer, connection);
    }

    static IncomingConnection nextRequest() throws InterruptedException {
        IncomingConnection request = REQUESTS.poll(Patience.LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(request).as("connection request").isNotNull();
        return request;
    }

    /** Waits for the error that the application receives at the end of a connection. */
    static RdmaErrorInfo awaitError(Connection connection) {
        return events.awaitError(connection);
    }
}
