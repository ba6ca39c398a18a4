// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.service.identity.workload.SpiffeWorkloadAPIGrpc;
import io.sidewarp.service.identity.workload.X509SVID;
import io.sidewarp.service.identity.workload.X509SVIDRequest;
import io.sidewarp.service.identity.workload.X509SVIDResponse;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes the certificate from the SPIFFE Workload API (FetchX509SVID): the default identity, the CAs of its trust domain,
 * and those of federated trust domains. The agent streams renewals. Calls again when the stream ends, with delays that
 * double.
 */
final class WorkloadApiSource implements CertificateSource {

    private static final Metadata.Key<String> SECURITY_HEADER =
            Metadata.Key.of("workload.spiffe.io", Metadata.ASCII_STRING_MARSHALLER);
    private static final String SCHEME = "spiffe://";

    private final String address;
    private final Supplier<ManagedChannel> newChannel;
    private final Clock clock;
    private final Duration firstDelay;
    private final Duration longestDelay;
    private @Nullable ManagedChannel channel;
    private @Nullable X509SVIDResponse latest;
    private @Nullable X509SVIDResponse accepted;
    private int failures;

    /**
     * Creates a source.
     *
     * @param address of the Workload API, for messages
     * @param newChannel makes a channel to that address
     */
    WorkloadApiSource(
            String address,
            Supplier<ManagedChannel> newChannel,
            Clock clock,
            Duration firstDelay,
            Duration longestDelay) {
        this.address = address;
        this.newChannel = newChannel;
        this.clock = clock;
        this.firstDelay = firstDelay;
        this.longestDelay = longestDelay;
    }

    @Override
    public void start(ScheduledExecutorService thread, Receiver receiver) {
        ManagedChannel created = newChannel.get();
        channel = created;
        call(created, thread, receiver);
    }

    @Override
    public void close() {
        if (channel != null) {
            channel.shutdownNow();
        }
    }

    private void call(ManagedChannel to, ScheduledExecutorService thread, Receiver receiver) {
        // The delay between calls is this class's own.
        to.resetConnectBackoff();
        SpiffeWorkloadAPIGrpc.newStub(withHeader(to))
                .withExecutor(thread)
                .fetchX509SVID(X509SVIDRequest.getDefaultInstance(), new StreamObserver<>() {
                    @Override
                    public void onNext(X509SVIDResponse response) {
                        failures = 0;
                        take(response, thread, receiver);
                    }

                    @Override
                    public void onError(Throwable thrown) {
                        retry(problem(Status.fromThrowable(thrown)));
                    }

                    @Override
                    public void onCompleted() {
                        retry("the Workload API at " + address + " ended its stream; check the SPIFFE agent");
                    }

                    private void retry(String problem) {
                        report(problem, receiver);
                        schedule(thread, delay(), () -> call(to, thread, receiver));
                    }
                });
    }

    private static Channel withHeader(Channel to) {
        Metadata metadata = new Metadata();
        metadata.put(SECURITY_HEADER, "true");
        return ClientInterceptors.intercept(to, MetadataUtils.newAttachHeadersInterceptor(metadata));
    }

    private void take(X509SVIDResponse response, ScheduledExecutorService thread, Receiver receiver) {
        latest = response;
        if (response.equals(accepted)) {
            receiver.onUnchanged();
            return;
        }
        try {
            TlsCredentials credentials = credentials(response);
            accepted = response;
            receiver.onCredentials(credentials);
        } catch (IllegalArgumentException e) {
            receiver.onProblem(
                    "the Workload API at " + address + " delivers an identity that cannot be used: " + e.getMessage());
            // A certificate of an agent whose clock is ahead becomes valid later.
            schedule(thread, longestDelay, () -> {
                if (response.equals(latest)) {
                    take(response, thread, receiver);
                }
            });
        }
    }

    private static void schedule(ScheduledExecutorService thread, Duration delay, Runnable task) {
        try {
            thread.schedule(task, delay.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // Closed meanwhile.
        }
    }

    private TlsCredentials credentials(X509SVIDResponse response) {
        if (response.getSvidsCount() == 0) {
            throw new IllegalArgumentException("there is no X.509-SVID; register this workload at the SPIFFE server");
        }
        X509SVID svid = response.getSvids(0);
        List<X509Certificate> chain = Pem.derCertificates(svid.getX509Svid().toByteArray());
        if (chain.isEmpty()) {
            throw new IllegalArgumentException("the X.509-SVID " + svid.getSpiffeId() + " has no certificate");
        }
        Map<String, List<X509Certificate>> anchors = new HashMap<>();
        response.getFederatedBundlesMap().forEach((domain, bundle) -> {
            List<X509Certificate> authorities = Pem.derCertificates(bundle.toByteArray());
            if (!authorities.isEmpty()) {
                anchors.put(domain.startsWith(SCHEME) ? domain.substring(SCHEME.length()) : domain, authorities);
            }
        });
        anchors.put(
                Credentials.id(chain).trustDomain(),
                Pem.derCertificates(svid.getBundle().toByteArray()));
        return Credentials.of(Pem.privateKey(svid.getX509SvidKey().toByteArray()), chain, anchors, clock);
    }

    /** Reports a problem at once if nothing works yet, and else when it persists: an agent may restart. */
    private void report(String problem, Receiver receiver) {
        failures++;
        if (accepted == null || failures > 1) {
            receiver.onProblem(problem);
        }
    }

    private Duration delay() {
        Duration delay = firstDelay;
        for (int i = 1; i < failures && delay.compareTo(longestDelay) < 0; i++) {
            delay = delay.multipliedBy(2);
        }
        return delay.compareTo(longestDelay) < 0 ? delay : longestDelay;
    }

    private String problem(Status status) {
        String answer = status.getCode()
                + (status.getDescription() == null ? "" : ": " + status.getDescription())
                + (status.getCause() == null ? "" : ": " + reason(status.getCause()));
        return switch (status.getCode()) {
            case PERMISSION_DENIED ->
                "the Workload API at " + address + " has no identity for this process (" + answer
                        + "); register this workload at the SPIFFE server";
            case UNAVAILABLE ->
                "the Workload API at " + address + " does not answer (" + answer
                        + "); start the SPIFFE agent, mount its socket, or set sidewarp.identity.socket";
            default ->
                "the Workload API at " + address + " fails (" + answer
                        + "); check that a SPIFFE agent serves this address";
        };
    }

    /** Returns the message of a failure, or its kind if it has none, as for a missing socket. */
    private static String reason(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : message;
    }
}
