// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsAttributes;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the policies of both sides against each other: what happens to a connection. */
@Timeout(60)
final class SecurityPolicyTest {

    private static final int MIB = 1 << 20;
    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");

    private final BlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();
    private final Queue<String> failedStartups = new ConcurrentLinkedQueue<>();
    private @Nullable SoftwareProvider clientProvider;
    private @Nullable SoftwareProvider serverProvider;
    private Device clientDevice;
    private Device serverDevice;

    private void open(TlsCredentials client, TlsCredentials server) {
        clientProvider = SoftwareProvider.builder()
                .identity(() -> Optional.ofNullable(client))
                .eventLoops(1)
                .build();
        SoftwareEvents events = new SoftwareEvents() {
            @Override
            public void onStartupFailed(InetSocketAddress remote, String message) {
                failedStartups.add(message);
            }
        };
        serverProvider = SoftwareProvider.builder()
                .identity(() -> Optional.ofNullable(server))
                .events(events)
                .eventLoops(1)
                .build();
        clientDevice = clientProvider.open();
        serverDevice = serverProvider.open();
    }

    @AfterEach
    void close() {
        if (clientProvider != null && serverProvider != null) {
            clientDevice.close();
            serverDevice.close();
            clientProvider.close();
            serverProvider.close();
        }
    }

    private static ListenAttributes listening(SecurityPolicy policy) {
        return new ListenAttributes(Llp.TCP, MpaPolicy.defaults(), 16, 16, Duration.ofSeconds(10)).withSecurity(policy);
    }

    private VerbsListener listen(SecurityPolicy policy) throws Exception {
        return serverDevice
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), listening(policy), requests::add)
                .get(10, TimeUnit.SECONDS);
    }

    private static ConnectionParameters asking(SecurityPolicy policy) {
        return ConnectionParameters.defaults().withSecurity(policy);
    }

    private static String securityOf(ConnectionAttributes agreed) {
        TlsAttributes tls = agreed.tls();
        return tls == null ? "plain" : "tls";
    }

    /** The table of policies. A peer without any TLS, such as siw or an RNIC, behaves as a peer that is plain. */
    @ParameterizedTest
    @CsvSource({
        "PLAIN,     PLAIN,     plain",
        "PLAIN,     PREFERRED, plain",
        "PLAIN,     REQUIRED,  refused",
        "PREFERRED, PLAIN,     plain",
        "PREFERRED, PREFERRED, tls",
        "PREFERRED, REQUIRED,  tls",
        "REQUIRED,  PLAIN,     refused",
        "REQUIRED,  PREFERRED, tls",
        "REQUIRED,  REQUIRED,  tls",
    })
    void bothPoliciesDecide(TlsUse initiator, TlsUse listener, String outcome) throws Exception {
        open(AUTHORITY.credentials("cart"), AUTHORITY.credentials("db"));
        Endpoint client = new Endpoint(clientDevice, 4 * MIB);
        Endpoint server = new Endpoint(serverDevice, 4 * MIB);
        client.fill(1);
        VerbsListener listening = listen(SecurityPolicy.of(listener));
        ConnectionParameters asking = asking(SecurityPolicy.of(initiator)).withPrivateData(new byte[] {1, 2, 3});
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(listening.localAddress(), asking);

        if (outcome.equals("refused")) {
            assertThatThrownBy(() -> connected.get(20, TimeUnit.SECONDS)).hasMessageContaining("TLS");
            assertThat(requests).isEmpty();
            assertThat(failedStartups).anyMatch(message -> message.contains("TLS"));
            return;
        }
        ConnectionRequest request = requests.poll(5, TimeUnit.SECONDS);
        assertThat(request)
                .as(() -> (connected.isCompletedExceptionally() ? connected.exceptionNow() : "waits") + ", listener: "
                        + failedStartups)
                .isNotNull();
        assertThat(request.privateData()).containsExactly(1, 2, 3);
        request.accept(server.queuePair, ConnectionParameters.defaults()).get(10, TimeUnit.SECONDS);
        ConnectionAttributes agreed = connected.get(10, TimeUnit.SECONDS);
        assertThat(securityOf(agreed)).isEqualTo(outcome);
        assertThat(securityOf(server.queuePair.attributes())).isEqualTo(outcome);
        if (outcome.equals("tls")) {
            assertThat(agreed.tls().peer().id()).hasToString(AUTHORITY.id("db"));
            assertThat(request.tls().orElseThrow().peer().id()).hasToString(AUTHORITY.id("cart"));
        }
        moveData(client, server);
    }

    private static void moveData(Endpoint client, Endpoint server) throws Exception {
        Wr request = new Wr();
        client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(client.region, 0, MIB + 13)
                .remote(server.region.stag(), 5));
        client.postSend(request.reset(2, WrOpcode.RDMA_READ)
                .addSge(client.region, 2 * MIB, MIB)
                .remote(server.region.stag(), 6));
        for (long id = 1; id <= 2; id++) {
            assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        }
        assertThat(server.octets(5, MIB + 13)).isEqualTo(client.octets(0, MIB + 13));
        assertThat(client.octets(2 * MIB, MIB)).isEqualTo(client.octets(1, MIB));
        client.queuePair.disconnect().get(10, TimeUnit.SECONDS);
        server.awaitState(QueuePairState.CLOSED);
        assertThat(client.queuePair.isUnconfirmed()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "REQUIRED, false, false, true",
        "REQUIRED, true,  false, true",
        "REQUIRED, false, true,  true",
        "REQUIRED, true,  true,  false",
        "PLAIN,    true,  true,  true",
    })
    void crcsAreOffOnlyInTlsAndIfBothSidesSaySo(TlsUse security, boolean initiator, boolean listener, boolean crc)
            throws Exception {
        open(AUTHORITY.credentials("cart"), AUTHORITY.credentials("db"));
        Endpoint client = new Endpoint(clientDevice, 4 * MIB);
        Endpoint server = new Endpoint(serverDevice, 4 * MIB);
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(
                listen(SecurityPolicy.of(security)).localAddress(),
                asking(SecurityPolicy.of(security).withTlsReplacesCrc(initiator)));
        requests.poll(10, TimeUnit.SECONDS)
                .accept(server.queuePair, asking(SecurityPolicy.of(security).withTlsReplacesCrc(listener)))
                .get(10, TimeUnit.SECONDS);

        assertThat(connected.get(10, TimeUnit.SECONDS).crc()).isEqualTo(crc);
        assertThat(server.queuePair.attributes().crc()).isEqualTo(crc);
        moveData(client, server);
    }

    @Test
    void theNextConnectionToAPlainPeerBeginsWithoutTls() throws Exception {
        open(AUTHORITY.credentials("cart"), AUTHORITY.credentials("db"));
        VerbsListener listening = listen(SecurityPolicy.PLAIN);
        for (int i = 0; i < 2; i++) {
            Endpoint client = new Endpoint(clientDevice, 64);
            Endpoint server = new Endpoint(serverDevice, 64);
            CompletableFuture<ConnectionAttributes> connected =
                    client.queuePair.connect(listening.localAddress(), asking(SecurityPolicy.of(TlsUse.PREFERRED)));
            requests.poll(10, TimeUnit.SECONDS)
                    .accept(server.queuePair, ConnectionParameters.defaults())
                    .get(10, TimeUnit.SECONDS);
            assertThat(securityOf(connected.get(10, TimeUnit.SECONDS))).isEqualTo("plain");
        }
        assertThat(failedStartups).hasSize(1);
    }
}
