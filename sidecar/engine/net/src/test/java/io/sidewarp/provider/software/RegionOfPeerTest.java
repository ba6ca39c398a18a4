// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.DdpError;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.ProtocolError;
import io.sidewarp.engine.verbs.RdmapError;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.time.Duration;
import java.util.EnumSet;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests regions that only peers with one verified identity may use, against other peers that know the STag. */
@Timeout(60)
final class RegionOfPeerTest {

    private static final int LENGTH = 64;
    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");

    private TlsBed bed;
    private Endpoint client;
    private Endpoint server;

    @BeforeEach
    void open() {
        bed = new TlsBed(AUTHORITY.credentials("cart"), AUTHORITY.credentials("db"));
        client = new Endpoint(bed.clientDevice, LENGTH);
        server = new Endpoint(bed.serverDevice, LENGTH);
        client.fill(1);
    }

    @AfterEach
    void close() {
        bed.close();
    }

    private void connect(TlsUse security) throws Exception {
        bed.connect(
                client, server, bed.listen(SecurityPolicy.of(security)), TlsBed.asking(SecurityPolicy.of(security)));
    }

    private MemoryRegion regionOf(String serviceAccount) {
        EnumSet<AccessRight> all = EnumSet.allOf(AccessRight.class);
        all.remove(AccessRight.REMOTE_INVALIDATE);
        return server.device.registerMemory(
                server.domain,
                ManagedBacking.allocate(LENGTH),
                new RegionAttributes(all, 0, AUTHORITY.id(serviceAccount)),
                0);
    }

    private Wr work(WrOpcode opcode, MemoryRegion target) {
        return new Wr().reset(1, opcode).addSge(client.region, 0, Long.BYTES).remote(target.stag(), 0);
    }

    private void assertRefused(WrOpcode opcode, MemoryRegion target) {
        client.postSend(work(opcode, target));

        Awaitility.await()
                .atMost(Duration.ofSeconds(TlsBed.PATIENCE_SECONDS))
                .until(() -> client.queuePair.error() != null);
        StreamError error = client.queuePair.error();
        ProtocolError expected =
                opcode == WrOpcode.RDMA_WRITE ? DdpError.STAG_NOT_ASSOCIATED : RdmapError.STAG_NOT_ASSOCIATED;
        assertThat(error.definition()).contains(expected);
        assertThat(error.remote()).isTrue();
        byte[] content = new byte[LENGTH];
        target.segment().asByteBuffer().get(content);
        assertThat(content).containsOnly(0);
    }

    @ParameterizedTest
    @CsvSource({"RDMA_WRITE", "RDMA_READ", "FETCH_ADD", "COMPARE_SWAP"})
    void anotherVerifiedPeerCannotUseTheStag(WrOpcode opcode) throws Exception {
        MemoryRegion ofWeb = regionOf("web");
        connect(TlsUse.REQUIRED);

        assertRefused(opcode, ofWeb);
    }

    @ParameterizedTest
    @CsvSource({"RDMA_WRITE", "RDMA_READ", "FETCH_ADD", "COMPARE_SWAP"})
    void aPeerWithoutTlsCannotUseTheStag(WrOpcode opcode) throws Exception {
        MemoryRegion ofCart = regionOf("cart");
        connect(TlsUse.PLAIN);

        assertRefused(opcode, ofCart);
    }

    @ParameterizedTest
    @CsvSource({"RDMA_WRITE", "RDMA_READ", "FETCH_ADD", "COMPARE_SWAP"})
    void theNamedPeerUsesTheStag(WrOpcode opcode) throws Exception {
        MemoryRegion ofCart = regionOf("cart");
        connect(TlsUse.REQUIRED);

        client.postSend(work(opcode, ofCart));

        assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
    }

    @Test
    void localWorkOfAConnectionWithAnotherPeerIsRefused() throws Exception {
        MemoryRegion ofWeb = regionOf("web");
        MemoryRegion ofCart = regionOf("cart");
        Wr request = new Wr();
        assertThat(server.queuePair.postReceive(
                        request.reset(1, WrOpcode.RECEIVE).addSge(ofCart, 0, LENGTH)))
                .as("before the peer is known")
                .isEqualTo(PostResult.INVALID_REQUEST);
        connect(TlsUse.REQUIRED);

        assertThat(server.queuePair.postSend(request.reset(2, WrOpcode.SEND).addSge(ofWeb, 0, LENGTH)))
                .isEqualTo(PostResult.INVALID_REQUEST);
        assertThat(server.queuePair.postReceive(
                        request.reset(3, WrOpcode.RECEIVE).addSge(ofWeb, 0, LENGTH)))
                .isEqualTo(PostResult.INVALID_REQUEST);
        assertThat(server.queuePair.postReceive(
                        request.reset(4, WrOpcode.RECEIVE).addSge(ofCart, 0, LENGTH)))
                .isEqualTo(PostResult.POSTED);
    }
}
