// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests data in a TLS stream: all sizes, both directions at once, and new keys on the way. */
@Timeout(120)
final class TlsStreamTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");
    private static final SecurityPolicy REQUIRED = SecurityPolicy.of(TlsUse.REQUIRED);
    private static final int MIB = 1 << 20;

    private final TlsBed bed = new TlsBed(AUTHORITY.credentials("cart"), AUTHORITY.credentials("db"));
    private final Wr request = new Wr();
    private Endpoint client;
    private Endpoint server;

    @BeforeEach
    void open() {
        client = new Endpoint(bed.clientDevice, 8 * MIB);
        server = new Endpoint(bed.serverDevice, 8 * MIB);
        client.fill(1);
        server.fill(2);
    }

    @AfterEach
    void close() {
        bed.close();
    }

    private void connect() throws Exception {
        bed.connect(client, server, bed.listen(REQUIRED), TlsBed.asking(REQUIRED));
    }

    @Test
    void writesAndReadsOfAllSizesArriveUnchanged() throws Exception {
        connect();
        int[] sizes = {0, 1, 8, 100, 16_383, 16_384, 16_385, 65_536, 100_003, MIB, 3 * MIB + 1};
        for (int size : sizes) {
            client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                    .addSge(client.region, 0, size)
                    .remote(server.region.stag(), 4L * MIB));
            client.postSend(request.reset(2, WrOpcode.RDMA_READ)
                    .addSge(client.region, 4L * MIB, size)
                    .remote(server.region.stag(), 3));
            assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
            assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
            assertThat(server.octets(4L * MIB, size)).isEqualTo(client.octets(0, size));
            assertThat(client.octets(4L * MIB, size)).isEqualTo(server.octets(3, size));
        }
    }

    @Test
    void bothSidesTakeNewKeysWhileTheyStream() throws Exception {
        bed.client().loops().setRekeyRecords(3);
        ((SoftwareDevice) bed.serverDevice).loops().setRekeyRecords(5);
        connect();
        for (int round = 0; round < 20; round++) {
            client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                    .addSge(client.region, 0, MIB)
                    .remote(server.region.stag(), 4L * MIB));
            client.postSend(request.reset(2, WrOpcode.RDMA_READ)
                    .addSge(client.region, 4L * MIB, MIB)
                    .remote(server.region.stag(), 3));
            server.postSend(request.reset(3, WrOpcode.RDMA_WRITE)
                    .addSge(server.region, 0, MIB)
                    .remote(client.region.stag(), 6L * MIB));
        }
        for (int work = 0; work < 40; work++) {
            assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        }
        for (int work = 0; work < 20; work++) {
            assertThat(server.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        }
        assertThat(server.octets(4L * MIB, MIB)).isEqualTo(client.octets(0, MIB));
        assertThat(client.octets(4L * MIB, MIB)).isEqualTo(server.octets(3, MIB));
        client.disconnect();
        server.awaitState(QueuePairState.CLOSED);
        assertThat(client.queuePair.isUnconfirmed()).isFalse();
        assertThat(bed.client().loops().newTlsKeys()).isGreaterThan(100);
    }

    @Test
    void aPeerThatAbortsIsNoticed() throws Exception {
        connect();
        server.postReceive(7, 0, 8);

        client.queuePair.abort();

        assertThat(server.awaitCompletion().status()).isEqualTo(CqeStatus.FLUSHED);
        server.awaitState(QueuePairState.CLOSED);
    }
}
