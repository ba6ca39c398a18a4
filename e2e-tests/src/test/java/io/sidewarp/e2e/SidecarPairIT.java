// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.sidewarp.client.Access;
import io.sidewarp.client.CompletionStatus;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.ConnectionRejectedException;
import io.sidewarp.client.Listener;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.Opcode;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedReceiveQueue;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.support.Events;
import io.sidewarp.e2e.support.Inbox;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.SidecarPair;
import io.sidewarp.e2e.support.SidecarProcess;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests two packaged sidecars, each with a Java client. */
@ExtendWith(Logs.class)
class SidecarPairIT {

    private static final int OCTETS = 1 << 20;

    @RegisterExtension
    static final SidecarPair SIDECARS = new SidecarPair();

    private SidewarpClient leftClient;
    private SidewarpClient rightClient;
    private Session here;
    private Session there;

    @BeforeEach
    void openSessions() {
        leftClient = SIDECARS.left().client();
        rightClient = SIDECARS.right().client();
        here = leftClient.openSession("here");
        there = rightClient.openSession("there");
    }

    @AfterEach
    void closeSessions() {
        leftClient.close();
        rightClient.close();
        Patience.await("the sidecars are empty again").untilAsserted(() -> {
            assertThat(SIDECARS.left().volumeFiles()).isEmpty();
            assertThat(SIDECARS.right().volumeFiles()).isEmpty();
        });
    }

    @Test
    @Requirement({"RDMAP-5.1-01", "RDMAP-5.2.1-02"})
    void octetsGoFromOneClientsPagesToTheOthersAndBack() {
        SharedRegion source = here.createSharedRegion("source", OCTETS);
        SharedRegion copy = here.createSharedRegion("copy", OCTETS, Access.LOCAL_WRITE);
        SharedRegion target = there.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE, Access.REMOTE_READ);
        ManagedRegion inbox = there.registerManaged(1, Access.LOCAL_WRITE);
        Pattern.fill(source.segment(), 1);
        WorkCompletion write;
        WorkCompletion read;
        Connection responder = there.createConnection();
        try (WorkQueue queue = there.openQueue(16)) {
            queue.post(77, WorkRequest.receive(responder, inbox.slice()));
            Link link = Link.connect(here, there, responder);
            write = link.initiator().write(source.slice(), target.address());
            read = link.initiator().read(copy.slice(), target.address());
            link.initiator().send(source.slice(0, 1));
            assertThat(queue.poll(Patience.LIMIT))
                    .as("the first that its queue tells")
                    .map(WorkCompletion::id)
                    .hasValue(77L);
        }

        assertThat(write.opcode()).isEqualTo(Opcode.WRITE);
        assertThat(write.length()).isEqualTo(OCTETS);
        assertThat(read.opcode()).isEqualTo(Opcode.READ);
        assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
        assertThat(copy.segment().mismatch(source.segment())).isEqualTo(-1);
    }

    @Test
    void managedRegionsNeedNoVolume() {
        ManagedRegion source = here.registerManaged(OCTETS, Access.LOCAL_WRITE);
        ManagedRegion target = there.registerManaged(OCTETS, Access.REMOTE_WRITE, Access.REMOTE_READ);
        Link link = Link.connect(here, there);
        byte[] content = Pattern.bytes(2, OCTETS);
        source.store(0, content);

        link.initiator().write(source.slice(), target.address());
        // Completion of a Write says nothing of the peer's memory (RFC 5040 section 5.5 rule 9); a Read behind it does.
        link.initiator().read(source.slice(0, 1), target.address());
        assertThat(target.load(0, OCTETS)).isEqualTo(content);

        byte[] other = Pattern.bytes(3, OCTETS);
        target.store(0, other);
        link.initiator().read(source.slice(), target.address());
        assertThat(source.load(0, OCTETS)).isEqualTo(other);
    }

    @Test
    void aSharedAndAManagedRegionGoTogether() {
        SharedRegion source = here.createSharedRegion("source", OCTETS, Access.LOCAL_WRITE);
        ManagedRegion target = there.registerManaged(OCTETS, Access.REMOTE_WRITE);
        Link link = Link.connect(here, there);
        byte[] content = Pattern.bytes(4, OCTETS);
        source.buffer().put(content);

        link.initiator().write(source.slice(100, 1000), target.address(50));
        // Answered behind the Write, which has its place then.
        link.initiator().read(source.slice(0, 0), target.address());

        assertThat(target.load(50, 1000)).isEqualTo(Arrays.copyOfRange(content, 100, 1100));
        assertThat(target.load(0, 50)).containsOnly(0);
        assertThat(target.load(1050, 1000)).containsOnly(0);
    }

    @Test
    void theSideThatAcceptedReadsAndWritesAsWell() {
        SharedRegion target = here.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE);
        SharedRegion source = there.createSharedRegion("source", OCTETS);
        Link link = Link.connect(here, there);
        Pattern.fill(source.segment(), 5);

        // RFC 5044 section 7.1.2 rule 4: the side that accepted sends only when it has received something.
        link.initiator().write(target.slice(0, 0), new RemoteAddress(0, 0));
        link.responder().write(source.slice(), target.address());

        Patience.await("the octets are there").until(() -> target.segment().mismatch(source.segment()) == -1);
    }

    @Test
    @Requirement({"RDMAP-5.3-01", "RDMAP-5.5-10"})
    void messagesArriveInOrderWithTheirLengths() {
        ManagedRegion inbox = there.registerManaged(30_000, Access.LOCAL_WRITE);
        ManagedRegion outbox = here.registerManaged(10_000);
        byte[] content = Pattern.bytes(6, 10_000);
        outbox.store(0, content);
        List<WorkCompletion> received = new ArrayList<>();
        try (Inbox messages =
                Inbox.of(there, inbox.slice(0, 10_000), inbox.slice(10_000, 10_000), inbox.slice(20_000, 10_000))) {
            Link link = Link.connect(here, there, messages.connection());

            link.initiator().send(outbox.slice(0, 0));
            link.initiator().send(outbox.slice(0, 1), true);
            link.initiator().send(outbox.slice(0, 10_000));

            for (int i = 0; i < 3; i++) {
                received.add(messages.receive());
            }
        }
        assertThat(received).extracting(WorkCompletion::id).containsExactly(0L, 1L, 2L);
        assertThat(received).extracting(WorkCompletion::length).containsExactly(0L, 1L, 10_000L);
        assertThat(received).extracting(WorkCompletion::solicited).containsExactly(false, true, false);
        assertThat(inbox.load(20_000, 10_000)).isEqualTo(content);
    }

    @Test
    void messagesGoBothWays() {
        ManagedRegion question = here.registerManaged(100, Access.LOCAL_WRITE);
        ManagedRegion answer = there.registerManaged(100, Access.LOCAL_WRITE);
        Link link = Link.connect(here, there);
        question.store(0, "ping".getBytes(StandardCharsets.US_ASCII));

        CompletableFuture<WorkCompletion> asked = link.responder().receiveAsync(answer.slice());
        CompletableFuture<WorkCompletion> answered = link.initiator().receiveAsync(question.slice(50, 50));
        awaitPosted(link, asked, answered);
        link.initiator().send(question.slice(0, 4));
        assertThat(Patience.get(asked).length()).isEqualTo(4);
        link.responder().send(answer.slice(0, 4));
        assertThat(Patience.get(answered).length()).isEqualTo(4);

        assertThat(question.load(50, 4)).asString().isEqualTo("ping");
    }

    /** A receive has no acknowledgement of its own: a later call of the same stream is behind it. */
    private static void awaitPosted(Link link, CompletableFuture<?> asked, CompletableFuture<?> answered) {
        link.initiator().info();
        link.responder().info();
        assertThat(asked).isNotDone();
        assertThat(answered).isNotDone();
    }

    @Test
    @Requirement({"MPA-7.1.1-11"})
    void privateDataOfBothSidesArrives() {
        byte[] hello = Pattern.bytes(7, 512);
        byte[] welcome = Pattern.bytes(8, 512);
        CompletableFuture<byte[]> arrived = new CompletableFuture<>();
        try (Listener listener = there.listen(Link.LOOPBACK, 0, request -> {
            arrived.complete(request.privateData());
            request.accept(ConnectionOptions.builder().privateData(welcome).build());
        })) {
            Connection connection = here.connect(
                    Link.LOOPBACK,
                    listener.port(),
                    ConnectionOptions.builder().privateData(hello).build());
            assertThat(connection.privateData()).isEqualTo(welcome);
            assertThat(Patience.get(arrived)).isEqualTo(hello);
        }
    }

    @Test
    void aRejectionCarriesPrivateData() {
        byte[] reason = "ask again tomorrow".getBytes(StandardCharsets.US_ASCII);
        try (Listener listener = there.listen(Link.LOOPBACK, 0, request -> request.reject(reason))) {
            assertThatThrownBy(() -> here.connect(Link.LOOPBACK, listener.port()))
                    .isInstanceOfSatisfying(
                            ConnectionRejectedException.class,
                            rejection -> assertThat(rejection.privateData()).isEqualTo(reason));
        }
    }

    @Test
    void aClientCanStartBeforeItsSidecar() {
        try (SidecarProcess late = SidecarProcess.with("late").launch();
                SidewarpClient client = late.client()) {
            client.awaitReady(Patience.LIMIT);
            assertThat(client.device().provider()).isEqualTo("software");
        }
    }

    @Test
    void aRegionGivesNoRemoteAccessUnlessAskedFor() {
        ManagedRegion source = here.registerManaged(100);
        ManagedRegion target = there.registerManaged(100, Access.LOCAL_WRITE);
        Events events = Events.of(here);
        Link link = Link.connect(here, there);

        link.initiator().write(source.slice(), target.address());

        assertThat(events.awaitError(link.initiator()).remote()).isTrue();
        assertThat(target.load(0, 100)).containsOnly(0);
        assertThatThrownBy(() -> link.initiator().write(source.slice(), target.address()))
                .isInstanceOf(SidewarpException.class);
        assertThatThrownBy(() -> link.initiator().close())
                .isInstanceOfSatisfying(
                        SidewarpException.class,
                        failure -> assertThat(failure.code()).isEqualTo(Status.Code.PERMISSION_DENIED))
                .hasMessageContaining("may not have arrived");
    }

    @Test
    void workOutsideOfARegionIsRefusedAndTheConnectionGoesOn() {
        ManagedRegion source = here.registerManaged(100);
        ManagedRegion target = there.registerManaged(100, Access.REMOTE_WRITE);
        Link link = Link.connect(here, there);

        assertThatThrownBy(() -> link.initiator().write(new Sge(source.id(), 50, 51), target.address()))
                .isInstanceOfSatisfying(
                        SidewarpException.class,
                        failure -> assertThat(failure.code()).isEqualTo(Status.Code.OUT_OF_RANGE))
                .hasMessageContaining("100 bytes");

        link.initiator().write(source.slice(), target.address());
    }

    @Test
    @Requirement("RDMAP-5.5-15")
    void theQueuePipelinesMoreWorkThanItHasCreditsAndKeepsItsOrder() {
        int requests = 5_000;
        long slot = 512;
        int slots = 64;
        SharedRegion source = here.createSharedRegion("source", slots * slot);
        SharedRegion copy = here.createSharedRegion("copy", slots * slot, Access.LOCAL_WRITE);
        SharedRegion target = there.createSharedRegion("target", slots * slot, Access.REMOTE_WRITE, Access.REMOTE_READ);
        Link link = Link.connect(here, there);
        Pattern.fill(source.segment(), 9);
        List<WorkCompletion> completions = new ArrayList<>();
        CompletableFuture<Void> done = new CompletableFuture<>();
        try (WorkQueue queue = here.openQueue(32)) {
            assertThat(queue.credits()).isLessThanOrEqualTo(32);
            queue.onCompletion(completion -> {
                completions.add(completion);
                if (completions.size() == requests) {
                    done.complete(null);
                }
            });
            for (int i = 0; i < requests; i++) {
                long offset = (i / 2 % slots) * slot;
                WorkRequest request = i % 2 == 0
                        ? WorkRequest.write(link.initiator(), target.address(offset), source.slice(offset, slot))
                        : WorkRequest.read(link.initiator(), target.address(offset), copy.slice(offset, slot));
                queue.post(i, request, Patience.LIMIT);
            }
            Patience.get(done);
        }
        assertThat(completions).allMatch(WorkCompletion::isSuccess);
        assertThat(completions).extracting(WorkCompletion::id).isSorted().hasSize(requests);
        assertThat(copy.segment().mismatch(source.segment())).isEqualTo(-1);
    }

    @Test
    void theCreditsOfUnsignaledWorkComeBackAfterTheEndOfItsConnection() {
        ManagedRegion source = here.registerManaged(100);
        ManagedRegion target = there.registerManaged(100, Access.REMOTE_WRITE);
        try (WorkQueue queue = here.openQueue(16)) {
            for (int i = 0; i < 3; i++) {
                Link link = Link.connect(here, there);
                WorkRequest write = WorkRequest.write(link.initiator(), target.address(), source.slice());
                queue.post(i, write.unsignaled());
                queue.post(i, write.unsignaled());
                Patience.await("they are carried out")
                        .until(() -> link.initiator().info().counters().writesSent() == 2);
                link.initiator().disconnect();
                Patience.get(link.initiator().closed());
            }
            Link last = Link.connect(here, there);
            WorkRequest write = WorkRequest.write(last.initiator(), target.address(), source.slice());

            Patience.get(queue.submit(write));

            assertThat(queue.available()).isEqualTo(queue.credits());
        }
    }

    @Test
    void messagesFillReceivesThatWerePostedBeforeAccept() {
        ManagedRegion inbox = there.registerManaged(1000, Access.LOCAL_WRITE);
        ManagedRegion outbox = here.registerManaged(10);
        Connection responder = there.createConnection();
        try (WorkQueue queue = there.openQueue(16)) {
            queue.post(77, WorkRequest.receive(responder, inbox.slice()));
            Link link = Link.connect(here, there, responder);
            queue.post(78, WorkRequest.receive(responder, inbox.slice()));
            link.initiator().send(outbox.slice(0, 3));
            assertThat(queue.poll(Patience.LIMIT)).map(WorkCompletion::id).hasValue(77L);
            link.initiator().send(outbox.slice(0, 4));
            Optional<WorkCompletion> second = queue.poll(Patience.LIMIT);
            assertThat(second).map(WorkCompletion::id).hasValue(78L);
            assertThat(second).map(WorkCompletion::length).hasValue(4L);
        }
    }

    @Test
    void connectionsShareReceivesAndTheApplicationHearsWhenFewAreLeft() {
        long slot = 16;
        SharedRegion inbox = there.createSharedRegion("inbox", 4096, Access.LOCAL_WRITE);
        ManagedRegion outbox = here.registerManaged(2 * slot);
        byte[] content = Pattern.bytes(11, 32);
        outbox.store(0, content);
        Events events = Events.of(there);
        SharedReceiveQueue receives = there.createSharedReceiveQueue(4);
        ConnectionOptions sharing =
                ConnectionOptions.builder().sharedReceives(receives).build();
        Link first = Link.connect(here, ConnectionOptions.defaults(), there, sharing);
        Link second = Link.connect(here, ConnectionOptions.defaults(), there, sharing);
        try (WorkQueue queue = there.openQueue(8)) {
            for (int id = 0; id < 4; id++) {
                queue.post(id, WorkRequest.receive(receives, inbox.slice(id * slot, slot)));
            }
            Patience.await("all receives are posted")
                    .until(() -> receives.usage().receives() == 4);
            receives.arm(3);

            first.initiator().send(outbox.slice(0, slot));
            WorkCompletion one = queue.poll(Patience.LIMIT).orElseThrow();
            second.initiator().send(outbox.slice(slot, slot));
            WorkCompletion two = queue.poll(Patience.LIMIT).orElseThrow();

            assertThat(List.of(one.id(), two.id())).containsExactly(0L, 1L);
            assertThat(one.connection()).isEqualTo(first.responder().id());
            assertThat(two.connection()).isEqualTo(second.responder().id());
            assertThat(inbox.segment().asSlice(0, 2 * slot).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(content);
            assertThat(events.awaitLimit()).isEqualTo(receives.id());
            assertThatThrownBy(receives::close).isInstanceOf(SidewarpException.class);
            first.initiator().disconnect();
            second.initiator().disconnect();
            Patience.get(first.responder().closed());
            Patience.get(second.responder().closed());
            receives.close();

            assertThat(queue.poll(Patience.LIMIT)).map(WorkCompletion::status).hasValue(CompletionStatus.FLUSHED);
        }
    }

    @Test
    void aGracefulDisconnectClosesBothSidesWithoutAnError() {
        Link link = Link.connect(here, there);
        link.initiator().disconnect();
        assertThat(Patience.get(link.responder().closed()).error()).isEmpty();
        assertThat(Patience.get(link.initiator().closed()).error()).isEmpty();
    }

    @Test
    void theFileOfACreatedRegionIsGoneWithTheRegion() {
        SharedRegion region = here.createSharedRegion("short-lived", OCTETS);
        assertThat(SIDECARS.left().volume().resolve("short-lived")).exists();
        region.close();
        assertThat(SIDECARS.left().volume().resolve("short-lived")).doesNotExist();
    }

    @Test
    void anExistingFileOfTheVolumeCanBeSentAndStays() throws Exception {
        byte[] content = Pattern.bytes(10, OCTETS);
        Files.write(SIDECARS.left().volume().resolve("document"), content);
        SharedRegion document = here.openSharedRegion("document", 0, 0);
        SharedRegion target = there.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE);
        Link link = Link.connect(here, there);
        link.initiator().write(document.slice(), target.address());
        link.initiator().disconnect();
        assertThat(target.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
        document.close();
        assertThat(SIDECARS.left().volume().resolve("document")).hasBinaryContent(content);
        Files.delete(SIDECARS.left().volume().resolve("document"));
    }
}
