// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpAssociationHandler;
import io.sidewarp.engine.net.sctp.SctpConnectException;
import io.sidewarp.engine.net.sctp.SctpCounter;
import io.sidewarp.engine.net.sctp.SctpDestination;
import io.sidewarp.engine.net.sctp.SctpEndpoint;
import io.sidewarp.engine.net.sctp.SctpListener;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.SctpStack;
import io.sidewarp.provider.Endpoint;
import io.sidewarp.provider.software.SoftwareDevice;
import io.sidewarp.provider.software.SoftwareProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests attempts to begin an association for callers that want a session. */
final class SctpAttemptsTest {

    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471);

    private final EventLoop loop = new DefaultEventLoop();
    private final Endpoint endpoint = new Endpoint();
    private SoftwareProvider provider;
    private SctpNetwork network;

    @BeforeEach
    void open() {
        provider = SoftwareProvider.builder().eventLoops(1).build();
        network = new SctpNetwork((SoftwareDevice) provider.open(), SoftwareSctp.of(() -> endpoint), loop);
    }

    @AfterEach
    void close() {
        provider.close();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    }

    private Seeker seek(Duration patience) throws Exception {
        Seeker seeker = new Seeker();
        onLoop(() -> seeker.giveUp = network.seek(PEER, 9899, patience, seeker));
        return seeker;
    }

    private void onLoop(Runnable work) throws Exception {
        loop.submit(work).get(10, TimeUnit.SECONDS);
    }

    private CompletableFuture<SctpAssociation> attempt() throws Exception {
        CompletableFuture<SctpAssociation> attempt = endpoint.attempts.poll(10, TimeUnit.SECONDS);
        assertThat(attempt).as("an attempt to begin an association").isNotNull();
        return attempt;
    }

    @Test
    void whoeverHasMorePatienceThanAnAttemptGetsAnotherOne() throws Exception {
        Seeker hasty = seek(Duration.ofMillis(100));
        CompletableFuture<SctpAssociation> first = attempt();
        Seeker patient = seek(Duration.ofMinutes(1));
        onLoop(hasty.giveUp);

        first.completeExceptionally(new SctpConnectException(SctpConnectException.Reason.NO_ANSWER, "no answer"));

        CompletableFuture<SctpAssociation> second = attempt();
        assertThat(patient.unreachable).isNotDone();
        onLoop(patient.giveUp);
        second.completeExceptionally(new SctpConnectException(SctpConnectException.Reason.NO_ANSWER, "no answer"));
        seek(Duration.ofMillis(100));
        assertThat(attempt()).as("the next one begins anew").isNotNull();
        assertThat(endpoint.attempts).isEmpty();
    }

    @Test
    void anAttemptEndsWhenTheLastOneWhoWaitedForItHasGivenUp() throws Exception {
        Seeker one = seek(Duration.ofMinutes(1));
        Seeker other = seek(Duration.ofMinutes(1));
        CompletableFuture<SctpAssociation> first = attempt();

        onLoop(one.giveUp);
        assertThat(first).isNotDone();
        onLoop(() -> {
            other.giveUp.run();
            assertThat(first).isCancelled();
        });

        seek(Duration.ofMinutes(1));
        assertThat(attempt()).as("the next one begins anew").isNotDone();
        assertThat(List.of(one.unreachable, other.unreachable)).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void whoeverComesWhileAnAttemptEndsGetsAnotherOne() throws Exception {
        Seeker first = seek(Duration.ofMinutes(1));
        attempt();
        Seeker next = new Seeker();

        onLoop(() -> {
            first.giveUp.run();
            network.seek(PEER, 9899, Duration.ofMinutes(1), next);
        });

        assertThat(attempt()).isNotDone();
        assertThat(next.unreachable).isNotDone();
    }

    @Test
    void aPeerThatRefusesRefusesAllWhoWait() throws Exception {
        Seeker one = seek(Duration.ofMinutes(1));
        Seeker other = seek(Duration.ofMinutes(1));

        attempt().completeExceptionally(new SctpConnectException(SctpConnectException.Reason.REFUSED, "refused"));

        assertThat(one.unreachable.get(10, TimeUnit.SECONDS)).hasMessageContaining("refused");
        assertThat(other.unreachable.get(10, TimeUnit.SECONDS)).hasMessageContaining("refused");
        assertThat(endpoint.attempts).isEmpty();
    }

    @Test
    void aDestinationCanBeHadAgainWhenMemoryWasShort() throws Exception {
        endpoint.openFailure.set(new OutOfMemoryError("no direct memory"));
        Seeker first = seek(Duration.ofMinutes(1));
        assertThat(first.unreachable.get(10, TimeUnit.SECONDS)).hasMessageContaining("no direct memory");

        seek(Duration.ofMinutes(1));

        assertThat(attempt()).isNotDone();
    }

    /** Wants a session. */
    private static final class Seeker implements SctpNetwork.Seeker {

        private final CompletableFuture<Throwable> unreachable = new CompletableFuture<>();
        private volatile Runnable giveUp = () -> {};

        @Override
        public void onAssociation(SoftwareAssociation association) {
            throw new AssertionError("there is none");
        }

        @Override
        public void onUnreachable(Throwable cause) {
            unreachable.complete(cause);
        }
    }

    /** An SCTP whose attempts the test answers. */
    private static final class Endpoint implements SctpStack, SctpEndpoint {

        private final LinkedBlockingQueue<CompletableFuture<SctpAssociation>> attempts = new LinkedBlockingQueue<>();
        /** Error that the next call of open throws. */
        private final AtomicReference<Error> openFailure = new AtomicReference<>();

        @Override
        public boolean isInUdp() {
            return true;
        }

        @Override
        public CompletableFuture<SctpEndpoint> open(
                EngineLoops loops,
                EventLoop owner,
                List<InetAddress> local,
                OptionalInt adaptation,
                SctpSettings settings) {
            Error failure = openFailure.getAndSet(null);
            if (failure != null) {
                throw failure;
            }
            return CompletableFuture.completedFuture(this);
        }

        @Override
        public CompletableFuture<SctpAssociation> connect(
                SctpDestination destination, Duration timeout, SctpAssociationHandler handler) {
            CompletableFuture<SctpAssociation> attempt = new CompletableFuture<>();
            attempts.add(attempt);
            return attempt;
        }

        @Override
        public CompletableFuture<SctpListener> listen(int port, SctpAssociationHandler handler) {
            throw new AssertionError("nobody listens");
        }

        @Override
        public EventLoop loop() {
            throw new AssertionError("nobody asks");
        }

        @Override
        public List<InetAddress> localAddresses() {
            return List.of(PEER.getAddress());
        }

        @Override
        public int udpPort() {
            return 9899;
        }

        @Override
        public long count(SctpCounter counter) {
            return 0;
        }

        @Override
        public CompletableFuture<Void> close() {
            return CompletableFuture.completedFuture(null);
        }
    }
}
