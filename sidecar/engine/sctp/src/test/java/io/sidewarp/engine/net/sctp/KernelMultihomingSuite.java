// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.net.sctp.kernel.KernelSctp;
import io.sidewarp.engine.verbs.AssociationPath;
import java.net.BindException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests associations of the kernel's SCTP over two paths (RFC 5043 section 7.2). Runs as root in the virtual machine of
 * the end-to-end tests, whose kernel has SCTP.
 */
final class KernelMultihomingSuite {

    private static final int DDP_SEGMENT = 16;
    private static final int MESSAGE = 1000;
    /** Limit of the bytes of heartbeats and SACKs on a path without data. */
    private static final int LITTLE = 20 * MESSAGE;

    private final KernelSctp stack = KernelSctp.load();
    private final EngineLoops leftLoops = EngineLoops.create(1, NetSettings.defaults());
    private final EngineLoops rightLoops = EngineLoops.create(1, NetSettings.defaults());
    private final List<SctpEndpoint> endpoints = new ArrayList<>();
    private final CompletableFuture<RecordingUser> accepted = new CompletableFuture<>();
    private TwoPaths paths;
    private int sent;

    @BeforeEach
    void open() throws Exception {
        paths = new TwoPaths();
        TwoPaths.enter(leftLoops.choose(), TwoPaths.LEFT);
        TwoPaths.enter(rightLoops.choose(), TwoPaths.RIGHT);
    }

    @AfterEach
    void close() throws Exception {
        for (SctpEndpoint endpoint : endpoints) {
            endpoint.close().get(10, TimeUnit.SECONDS);
        }
        leftLoops.close();
        rightLoops.close();
        paths.close();
    }

    private SctpEndpoint endpoint(EngineLoops loops, InetAddress... addresses) throws Exception {
        EventLoop loop = loops.choose();
        SctpEndpoint endpoint = stack.open(loops, loop, List.of(addresses), SctpBed.DDP, SctpBed.settings())
                .get(10, TimeUnit.SECONDS);
        endpoints.add(endpoint);
        return endpoint;
    }

    private SctpListener listen(InetAddress... addresses) throws Exception {
        return endpoint(rightLoops, addresses)
                .listen(0, association -> {
                    RecordingUser user = new RecordingUser(association);
                    accepted.complete(user);
                    return user;
                })
                .get(10, TimeUnit.SECONDS);
    }

    private static RecordingUser connect(SctpEndpoint from, SctpListener listener, InetAddress... addresses)
            throws Exception {
        CompletableFuture<RecordingUser> user = new CompletableFuture<>();
        SctpDestination destination = new SctpDestination(List.of(addresses), listener.port(), 0);
        from.connect(destination, SctpBed.PATIENCE, association -> {
                    user.complete(new RecordingUser(association));
                    return user.join();
                })
                .get(30, TimeUnit.SECONDS);
        return user.join();
    }

    private static SctpAssociationFacts facts(RecordingUser user) {
        return CompletableFuture.supplyAsync(user.association::facts, user.association.loop())
                .join();
    }

    /** Sends messages with numbers of their own. */
    private void send(RecordingUser from, int count) {
        for (int i = 0; i < count; i++) {
            byte[] octets = new byte[MESSAGE];
            ByteBuffer.wrap(octets).putInt(sent);
            from.send(sent % 1024, DDP_SEGMENT, octets);
            sent++;
        }
    }

    private static Set<Integer> receive(RecordingUser by, int count) throws Exception {
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < count; i++) {
            int number = ByteBuffer.wrap(by.takeMessage().octets()).getInt();
            assertThat(numbers.add(number)).as("message %d came once", number).isTrue();
        }
        return numbers;
    }

    @Test
    void anAssociationOfSingleAddressesHasOnePath() throws Exception {
        SctpListener listener = listen(TwoPaths.right(1));
        RecordingUser client = connect(endpoint(leftLoops, TwoPaths.left(1)), listener, TwoPaths.right(1));
        RecordingUser server = accepted.get(10, TimeUnit.SECONDS);

        assertThat(facts(client).paths()).extracting(AssociationPath::remote).containsExactly(TwoPaths.right(1));
        assertThat(facts(server).paths()).extracting(AssociationPath::remote).containsExactly(TwoPaths.left(1));
        assertThat(client.association.remoteAddress().getAddress()).isEqualTo(TwoPaths.right(1));
        assertThat(server.association.remoteAddress().getAddress()).isEqualTo(TwoPaths.left(1));
    }

    @Test
    void dataStaysOnThePrimaryPathUntilItIsLostAndReturnsToIt() throws Exception {
        SctpListener listener = listen(TwoPaths.right(1), TwoPaths.right(2));
        SctpEndpoint active = endpoint(leftLoops, TwoPaths.left(1), TwoPaths.left(2));
        // The other address comes with the INIT ACK.
        RecordingUser client = connect(active, listener, TwoPaths.right(1));
        RecordingUser server = accepted.get(10, TimeUnit.SECONDS);
        awaitPaths(client, true, true);
        awaitPaths(server, true, true);

        long first = paths.sent(1);
        long second = paths.sent(2);
        send(client, 500);
        assertThat(receive(server, 500)).hasSize(500);
        assertThat(paths.sent(1) - first).isGreaterThan(500 * MESSAGE);
        assertThat(paths.sent(2) - second).isLessThan(LITTLE);

        send(client, 500);
        Set<Integer> before = receive(server, 100);
        second = paths.sent(2);
        paths.set(1, false);
        send(client, 500);
        Set<Integer> after = receive(server, 900);
        assertThat(after).doesNotContainAnyElementsOf(before);
        assertThat(paths.sent(2) - second).isGreaterThan(500 * MESSAGE);
        awaitPaths(client, false, true);
        assertThat(server.messages).isEmpty();
        assertThat(client.closed).isNotDone();
        assertThat(CompletableFuture.supplyAsync(client.association::retransmittedChunks, client.association.loop()))
                .succeedsWithin(10, TimeUnit.SECONDS)
                .matches(chunks -> chunks > 0);

        paths.set(1, true);
        awaitPaths(client, true, true);
        first = paths.sent(1);
        second = paths.sent(2);
        send(client, 500);
        assertThat(receive(server, 500)).hasSize(500);
        assertThat(paths.sent(1) - first).isGreaterThan(500 * MESSAGE);
        assertThat(paths.sent(2) - second).isLessThan(LITTLE);
        Awaitility.await().atMost(SctpBed.PATIENCE).until(() -> client.acknowledgements.get() == sent);
    }

    /** Waits until the primary path and the other one answer or do not. */
    private static void awaitPaths(RecordingUser user, boolean primary, boolean other) {
        Awaitility.await().atMost(SctpBed.PATIENCE.multipliedBy(3)).untilAsserted(() -> {
            assertThat(facts(user).paths()).extracting(AssociationPath::primary).containsExactly(true, false);
            assertThat(facts(user).paths()).extracting(AssociationPath::active).containsExactly(primary, other);
        });
    }

    @Test
    void anAssociationBeginsOverTheSecondAddressWhereTheFirstDoesNotAnswer() throws Exception {
        SctpListener listener = listen(TwoPaths.right(1), TwoPaths.right(2));
        paths.set(1, false);

        RecordingUser client = connect(
                endpoint(leftLoops, TwoPaths.left(1), TwoPaths.left(2)),
                listener,
                TwoPaths.right(1),
                TwoPaths.right(2));

        send(client, 1);
        assertThat(receive(accepted.get(10, TimeUnit.SECONDS), 1)).containsExactly(0);
    }

    @Test
    void anAddressOfAnotherMachineIsNotBoundTo() {
        assertThatThrownBy(() -> endpoint(leftLoops, TwoPaths.left(1), TwoPaths.right(2)))
                .cause()
                .isInstanceOf(BindException.class)
                .hasMessageContaining(TwoPaths.right(2).getHostAddress());
    }
}
