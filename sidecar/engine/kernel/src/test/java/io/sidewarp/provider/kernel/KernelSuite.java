// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.provider.Endpoint;
import io.sidewarp.provider.software.SoftwareProvider;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * The kernel's device {@value #DEVICE} and the software provider, for tests that connect them. Runs in the virtual
 * machine of the end-to-end tests, which has that device.
 */
abstract class KernelSuite {

    static final String DEVICE = "siw0";

    /** The interface of the device. On loopback the connection manager has no iWARP. */
    private static final String INTERFACE = "eth0";

    final Wr request = new Wr();
    Device kernel;
    Device software;
    private SoftwareProvider softwareProvider;

    @BeforeEach
    void open() {
        kernel = new KernelProvider(List.of(DEVICE), KernelLimits.defaults()).open();
        softwareProvider = SoftwareProvider.builder().eventLoops(1).build();
        software = softwareProvider.open();
    }

    @AfterEach
    void close() {
        kernel.close();
        software.close();
        softwareProvider.close();
    }

    static InetAddress address() throws IOException {
        return NetworkInterface.getByName(INTERFACE)
                .inetAddresses()
                .filter(Inet4Address.class::isInstance)
                .findFirst()
                .orElseThrow();
    }

    static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(20, TimeUnit.SECONDS);
    }

    static VerbsListener listen(Device device, CompletableFuture<ConnectionRequest> asked) throws Exception {
        ListenAttributes attributes =
                new ListenAttributes(Llp.TCP, MpaPolicy.defaults(), 16, 16, Duration.ofSeconds(10));
        return get(device.listen(new InetSocketAddress(address(), 0), attributes, asked::complete));
    }

    static void connect(Endpoint client, Endpoint server) throws Exception {
        connect(client, server, ConnectionParameters.defaults());
    }

    static void connect(Endpoint client, Endpoint server, ConnectionParameters parameters) throws Exception {
        CompletableFuture<ConnectionRequest> asked = new CompletableFuture<>();
        VerbsListener listener = listen(server.device, asked);
        CompletableFuture<ConnectionAttributes> connected =
                client.queuePair.connect(listener.localAddress(), parameters);
        get(get(asked).accept(server.queuePair, ConnectionParameters.defaults()));
        get(connected);
        get(listener.close());
    }

    static long target(Endpoint endpoint, long offset) {
        return endpoint.region.baseTaggedOffset() + offset;
    }
}
