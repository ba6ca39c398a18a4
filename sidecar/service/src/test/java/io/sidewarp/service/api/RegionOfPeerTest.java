// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.read;
import static io.sidewarp.service.testing.Works.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.rpc.Code;
import io.sidewarp.service.testing.TestAuthority;
import io.sidewarp.service.testing.TestIdentity;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ListRegionsRequest;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.ManagedBacking;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.Security;
import io.sidewarp.v1.WorkCompletion;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests regions that only a peer with one SPIFFE ID may use. */
class RegionOfPeerTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");
    private static final int LENGTH = 64;

    private final TestIdentity cart = AUTHORITY.identity("cart");
    private final TestIdentity db = AUTHORITY.identity("db");
    private TestSidecar left;
    private TestSidecar right;
    private TestSession client;
    private TestSession server;

    @BeforeEach
    void start() {
        left = TestSidecar.start(cart.settings());
        right = TestSidecar.start(db.settings());
        for (TestSidecar sidecar : new TestSidecar[] {left, right}) {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> sidecar.sidecar().health().isReady());
        }
        client = left.session("client");
        server = right.session("server");
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
        left.close();
        right.close();
        cart.close();
        db.close();
    }

    private Region regionOf(String peer) {
        return server.memory()
                .registerRegion(RegisterRegionRequest.newBuilder()
                        .setSession(server.token())
                        .addAccess(Access.ACCESS_LOCAL_WRITE)
                        .addAccess(Access.ACCESS_REMOTE_READ)
                        .setPeerIdentity(peer)
                        .setManaged(ManagedBacking.newBuilder().setLength(LENGTH))
                        .build())
                .getRegion();
    }

    /** Returns both ends of a connection. */
    private TestSession.Pair connect(Security security) {
        ConnectionOptions options =
                ConnectionOptions.newBuilder().setSecurity(security).build();
        try (TestSession.Listening listening = server.listen(ListenRequest.newBuilder()
                .setSession(server.token())
                .setAddress("127.0.0.1")
                .setOptions(options)
                .build())) {
            CompletableFuture<Connection> call = client.connect(
                    client.connectRequest(listening.port()).setOptions(options).build());
            Connection there = server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .build())
                    .getConnection();
            return new TestSession.Pair(call.join(), there);
        }
    }

    private WorkCompletion readFrom(Region source, Security security) {
        Region target = client.managed(LENGTH, Access.ACCESS_LOCAL_WRITE);
        try (TestQueue queue = client.queue(4)) {
            queue.credits();
            queue.post(read(1, connect(security).here().getId(), target, source, LENGTH)
                    .build());
            return queue.next();
        }
    }

    @Test
    void onlyTheNamedPeerReads() {
        assertThat(readFrom(regionOf(AUTHORITY.id("cart")), Security.SECURITY_REQUIRED)
                        .getStatus())
                .isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
        assertThat(readFrom(regionOf(""), Security.SECURITY_PLAIN).getStatus())
                .isEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);

        for (WorkCompletion refused : new WorkCompletion[] {
            readFrom(regionOf(AUTHORITY.id("web")), Security.SECURITY_REQUIRED),
            readFrom(regionOf(AUTHORITY.id("cart")), Security.SECURITY_PLAIN)
        }) {
            assertThat(refused.getStatus()).isNotEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
            assertThat(refused.getCode()).isEqualTo(Code.PERMISSION_DENIED_VALUE);
            assertThat(refused.getError().getName()).contains("STag not associated with RDMAP Stream");
        }
    }

    @Test
    void localWorkForAnotherPeerIsRefusedWithTheReason() {
        Region ofWeb = regionOf(AUTHORITY.id("web"));
        long connection = connect(Security.SECURITY_REQUIRED).there().getId();
        try (TestQueue queue = server.queue(4)) {
            queue.credits();
            queue.post(send(1, connection, ofWeb, LENGTH).build());

            WorkCompletion refused = queue.next();
            assertThat(refused.getCode()).isEqualTo(Code.PERMISSION_DENIED_VALUE);
            assertThat(refused.getMessage())
                    .contains(
                            "was registered for the peer " + AUTHORITY.id("web") + " only",
                            "the peer is " + AUTHORITY.id("cart"));
        }
    }

    @Test
    void aRegionTellsItsPeer() {
        Region ofWeb = regionOf(AUTHORITY.id("web"));

        assertThat(server.memory()
                        .listRegions(ListRegionsRequest.newBuilder()
                                .setSession(server.token())
                                .build())
                        .getRegionsList())
                .contains(ofWeb)
                .extracting(Region::getPeerIdentity)
                .containsExactly(AUTHORITY.id("web"));
    }

    @Test
    void aPeerThatIsNoSpiffeIdIsNamed() {
        assertThatThrownBy(() -> regionOf("ns/shop/sa/*"))
                .hasMessageContainingAll("INVALID_ARGUMENT", "peer_identity is ns/shop/sa/*", "a SPIFFE ID such as");
    }
}
