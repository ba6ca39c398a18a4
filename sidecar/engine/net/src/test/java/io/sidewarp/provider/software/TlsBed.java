// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.provider.Endpoint;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Two devices with identities that a test can replace, and a listener of one of them. */
final class TlsBed implements AutoCloseable {

    static final int PATIENCE_SECONDS = 20;

    /** Connection requests of the listener. */
    final BlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();
    /** Reasons of failed start-ups, as the listener reports them. */
    final BlockingQueue<String> failures = new LinkedBlockingQueue<>();

    final Device clientDevice;
    final Device serverDevice;
    private final SoftwareProvider clientProvider;
    private final SoftwareProvider serverProvider;
    private volatile @Nullable TlsCredentials clientCredentials;
    private volatile @Nullable TlsCredentials serverCredentials;

    TlsBed(@Nullable TlsCredentials client, @Nullable TlsCredentials server) {
        clientCredentials = client;
        serverCredentials = server;
        clientProvider = SoftwareProvider.builder()
                .identity(() -> Optional.ofNullable(clientCredentials))
                .eventLoops(1)
                .build();
        SoftwareEvents events = new SoftwareEvents() {
            @Override
            public void onStartupFailed(InetSocketAddress remote, String message) {
                failures.add(message);
            }
        };
        serverProvider = SoftwareProvider.builder()
                .identity(() -> Optional.ofNullable(serverCredentials))
                .events(events)
                .eventLoops(1)
                .build();
        clientDevice = clientProvider.open();
        serverDevice = serverProvider.open();
    }

    void replaceServer(TlsCredentials credentials) {
        serverCredentials = credentials;
    }

    SoftwareDevice client() {
        return (SoftwareDevice) clientDevice;
    }

    static ListenAttributes attributes(SecurityPolicy policy) {
        return new ListenAttributes(Llp.TCP, MpaPolicy.defaults(), 16, 16, Duration.ofSeconds(10)).withSecurity(policy);
    }

    InetSocketAddress listen(SecurityPolicy policy) throws Exception {
        return listen(attributes(policy));
    }

    InetSocketAddress listen(ListenAttributes attributes) throws Exception {
        return serverDevice
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), attributes, requests::add)
                .get(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .localAddress();
    }

    static ConnectionParameters asking(SecurityPolicy policy) {
        return ConnectionParameters.defaults().withSecurity(policy);
    }

    /** Connects two endpoints. The result is the view of the initiator. */
    ConnectionAttributes connect(
            Endpoint client, Endpoint server, InetSocketAddress listener, ConnectionParameters asking)
            throws Exception {
        CompletableFuture<ConnectionAttributes> connected = client.queuePair.connect(listener, asking);
        nextRequest(connected)
                .accept(server.queuePair, ConnectionParameters.defaults())
                .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        return connected.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /** Returns the next request of the listener. Fails when the attempt of the initiator fails. */
    ConnectionRequest nextRequest(CompletableFuture<ConnectionAttributes> connected) throws Exception {
        connected.exceptionally(failure -> {
            failures.add("initiator: " + failure);
            return null;
        });
        ConnectionRequest request = requests.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(request).as(failures::toString).isNotNull();
        return request;
    }

    /** Returns why an attempt to connect fails. */
    String failure(InetSocketAddress listener, ConnectionParameters asking) throws Exception {
        Endpoint client = new Endpoint(clientDevice, 64);
        try {
            client.queuePair.connect(listener, asking).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(ConnectionFailedException.class);
            return e.getCause().getMessage();
        } catch (TimeoutException e) {
            throw new AssertionError("the attempt neither failed nor succeeded; listener: " + failures, e);
        }
        throw new AssertionError("connected");
    }

    /** Returns the next failure that the listener reports. */
    String listenerFailure() throws InterruptedException {
        String message = failures.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(message).as("failure that the listener reports").isNotNull();
        return message;
    }

    @Override
    public void close() {
        clientDevice.close();
        serverDevice.close();
        clientProvider.close();
        serverProvider.close();
    }
}
