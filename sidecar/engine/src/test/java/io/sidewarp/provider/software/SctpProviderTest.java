// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.Llp;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Connections over SCTP in UDP. */
final class SctpProviderTest extends SctpProviderSuite {

    /** {@inheritDoc} Nothing tells that nobody listens at a UDP port, for ICMP is not to be believed. */
    @Override
    ConnectionFailedException.Kind nobodyThere() {
        return ConnectionFailedException.Kind.TIMEOUT;
    }

    @Test
    void refusesWhatIsNoDestination() {
        Endpoint client = new Endpoint(clientDevice(), 16);
        Endpoint other = new Endpoint(clientDevice(), 16);
        InetSocketAddress anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471);
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("somewhere", 7471);

        assertInvalid(client.queuePair.connect(anywhere, parameters().withUdpPort(0)));
        assertInvalid(other.queuePair.connect(unresolved, parameters()));
    }

    private static void assertInvalid(CompletableFuture<ConnectionAttributes> connected) {
        assertThatThrownBy(() -> connected.get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        ConnectionFailedException.class,
                        failed ->
                                assertThat(failed.kind()).isEqualTo(ConnectionFailedException.Kind.INVALID_PARAMETERS));
    }

    @Test
    void saysWhatIsMissingWhereThereIsNoSctp() {
        SctpUnavailableException missing = new SctpUnavailableException("install it", new IllegalStateException());
        try (SoftwareProvider provider = SoftwareProvider.builder()
                        .sctp(() -> {
                            throw missing;
                        })
                        .build();
                Device device = provider.open()) {
            Endpoint client = new Endpoint(device, 16);
            InetSocketAddress anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471);

            assertThatThrownBy(() ->
                            client.queuePair.connect(anywhere, parameters()).get(10, TimeUnit.SECONDS))
                    .cause()
                    .hasMessageContaining("install it");
            assertThatThrownBy(() ->
                            device.listen(anywhere, attributes(), ignored -> {}).get(10, TimeUnit.SECONDS))
                    .cause()
                    .hasMessageContaining("install it");
            assertThat(device.attributes().llps()).containsExactly(Llp.TCP);
            assertThat(clientDevice().attributes().llps()).contains(Llp.SCTP);
        }
    }
}
