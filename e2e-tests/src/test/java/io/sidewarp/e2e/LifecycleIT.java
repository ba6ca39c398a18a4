// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.client.Access;
import io.sidewarp.client.CompletionStatus;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.ManagedRegion;
import io.sidewarp.client.OpenSessionInfo;
import io.sidewarp.client.RdmaErrorInfo;
import io.sidewarp.client.RegionInfo;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkRequest;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.programs.EndlessWriter;
import io.sidewarp.e2e.support.Bystander;
import io.sidewarp.e2e.support.ClientProcess;
import io.sidewarp.e2e.support.Events;
import io.sidewarp.e2e.support.Inbox;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Traffic;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Ends a client, a peer or the sidecar itself in the middle of transfers. */
@ExtendWith(Logs.class)
class LifecycleIT {

    private static final int OCTETS = 1 << 20;
    private static final int DEPTH = 16;

    private SidecarProcess left;
    private SidecarProcess right;
    private SidewarpClient leftClient;
    private SidewarpClient rightClient;

    @BeforeEach
    void startSidecars() {
        left = SidecarProcess.with("left").set("sidewarp.drain-timeout", "5s").start();
        right = SidecarProcess.with("right").set("sidewarp.drain-timeout", "5s").start();
        leftClient = left.client();
        rightClient = right.client();
    }

    @AfterEach
    void stopSidecars() {
        leftClient.close();
        rightClient.close();
        left.close();
        right.close();
    }

    @Test
    void whatAKilledClientOwnedIsReleasedOnBothSidesAndOthersGoOn() throws Exception {
        Session there = rightClient.openSession("there");
        Events events = Events.of(there);
        SharedRegion target = there.createSharedRegion("target", EndlessWriter.OCTETS, Access.REMOTE_WRITE);
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        ConnectionOptions welcome = ConnectionOptions.builder()
                .privateData(target.address().encode())
                .build();
        try (Bystander bystander = new Bystander(left, right);
                Listener listener =
                        there.listen(Link.LOOPBACK, 0, request -> accepted.complete(request.accept(welcome)));
                OwnedProcess writer = ClientProcess.start(
                        EndlessWriter.class,
                        left.target(),
                        left.volume().toString(),
                        Link.LOOPBACK,
                        Integer.toString(listener.port()))) {
            writer.awaitLine(EndlessWriter.FLOWING::equals);
            assertThat(leftClient.listSessions())
                    .extracting(OpenSessionInfo::pid)
                    .contains(writer.pid());

            writer.kill();

            Connection peer = Patience.get(accepted);
            assertThat(events.awaitError(peer).layer()).isEqualTo(2);
            Patience.get(peer.closed());
            Patience.await("the sidecar releases the session").untilAsserted(() -> {
                assertThat(leftClient.listSessions())
                        .extracting(OpenSessionInfo::name)
                        .containsOnly("bystander");
                assertThat(leftClient.listRegions())
                        .extracting(RegionInfo::sessionName)
                        .containsOnly("bystander");
                assertThat(leftClient.listConnections())
                        .extracting(ConnectionInfo::sessionName)
                        .containsOnly("bystander");
                assertThat(left.volume().resolve("endless")).doesNotExist();
            });
            assertThat(there.listConnections()).isEmpty();
            bystander.awaitProgress();
            assertTransfers(leftClient, rightClient);
        }
    }

    @Test
    @Requirement({"RDMAP-6.2.1-05", "DDP-6.2.2-02", "MPA-8-01"})
    void outstandingWorkEndsInErrorWhenThePeersSidecarIsKilled() {
        Session here = leftClient.openSession("here");
        Session there = rightClient.openSession("there");
        Events events = Events.of(here);
        SharedRegion source = here.createSharedRegion("source", OCTETS);
        SharedRegion target = there.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE);
        Link link = Link.connect(here, there);
        try (Bystander bystander = new Bystander(left, left);
                Traffic traffic = new Traffic(
                        here,
                        link.initiator(),
                        DEPTH,
                        WorkRequest.write(link.initiator(), target.address(), source.slice()))) {
            traffic.awaitFlow();

            right.process().kill();

            traffic.awaitEnd();
            assertThat(traffic.total()).isEqualTo(traffic.posted());
            assertThat(traffic.count(CompletionStatus.FLUSHED) + traffic.count(CompletionStatus.FATAL))
                    .isEqualTo(traffic.total() - traffic.count(CompletionStatus.SUCCESS))
                    .isPositive();
            assertThat(traffic.firstMessage()).isNotBlank();
            RdmaErrorInfo error = events.awaitError(link.initiator());
            assertThat(error.layer()).isEqualTo(2);
            assertThat(error.code()).isEqualTo(1);
            assertThat(error.remote()).isFalse();
            assertThatThrownBy(() -> link.initiator().write(source.slice(), target.address()))
                    .isInstanceOf(SidewarpException.class);
            assertThatThrownBy(() -> link.initiator().close())
                    .isInstanceOf(SidewarpException.class)
                    .hasMessageContaining("may not have arrived");
            bystander.awaitProgress();
        }
        assertThatThrownBy(() -> Patience.get(there.closed()))
                .isInstanceOf(SidewarpException.class)
                .hasMessageContaining("there");
        assertTransfers(leftClient, leftClient);
    }

    @Test
    void aSidecarThatIsStoppedEndsItsWorkAndLeavesNothingBehind() {
        Session here = leftClient.openSession("here");
        Session there = rightClient.openSession("there");
        Events events = Events.of(here);
        SharedRegion source = here.createSharedRegion("source", OCTETS);
        SharedRegion target = there.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE);
        Link link = Link.connect(here, there);
        try (Traffic traffic = new Traffic(
                here, link.initiator(), DEPTH, WorkRequest.write(link.initiator(), target.address(), source.slice()))) {
            traffic.awaitFlow();

            left.process().terminate();

            assertThat(events.awaitDraining()).isPositive();
            assertThat(left.process().awaitExit()).isZero();
            traffic.awaitEnd();
        }
        assertThat(left.socket()).doesNotExist();
        assertThat(left.volumeFiles()).isEmpty();
        Patience.get(link.responder().closed());
        assertThat(there.listConnections()).isEmpty();
        assertTransfers(rightClient, rightClient);
    }

    @Test
    void aSidecarThatIsStoppedLetsWorkUnderWayFinish() {
        Session there = rightClient.openSession("there");
        ManagedRegion inbox = there.registerManaged(100, Access.LOCAL_WRITE);
        ManagedRegion source = there.registerManaged(100, Access.REMOTE_READ);
        try (SidecarProcess patient = SidecarProcess.with("patient")
                        .set("sidewarp.drain-timeout", Patience.LIMIT.toSeconds() + "s")
                        .start();
                SidewarpClient client = patient.client();
                Inbox messages = Inbox.of(there, inbox.slice())) {
            Session here = client.openSession("here");
            Events events = Events.of(here);
            ManagedRegion outbox = here.registerManaged(100, Access.LOCAL_WRITE);
            Link link = Link.connect(here, there, messages.connection());
            right.process().suspend();
            CompletableFuture<WorkCompletion> underWay = link.initiator().readAsync(outbox.slice(), source.address());
            Patience.await("the read is posted")
                    .until(() -> link.initiator().info().counters().readsSent() == 1);

            patient.process().terminate();

            assertThat(events.awaitDraining()).isPositive();
            CompletableFuture<WorkCompletion> behind = link.initiator().sendAsync(outbox.slice(0, 42), false);
            assertThatThrownBy(() -> here.connect(Link.LOOPBACK, 1))
                    .isInstanceOf(SidewarpException.class)
                    .hasMessageContaining("takes no new work");
            assertThat(underWay).isNotDone();
            right.process().resume();
            assertThat(Patience.get(underWay).isSuccess()).isTrue();
            assertThat(Patience.get(behind).isSuccess()).isTrue();
            assertThat(messages.receive().length()).isEqualTo(42);
            assertThat(patient.process().awaitExit()).isZero();
        }
    }

    /** An ordinary container gets SIGTERM with its application, which works on. */
    @Test
    void aSidecarThatOutlivesSessionsServesUntilItsApplicationHasEnded() {
        try (SidecarProcess outliving = SidecarProcess.with("outliving")
                        .set("sidewarp.drain-timeout", Patience.LIMIT.toSeconds() + "s")
                        .set("sidewarp.advanced.outlive-sessions", "true")
                        .start();
                SidewarpClient application = outliving.client()) {
            Session session = application.openSession("application");

            outliving.process().terminate();

            outliving.process().awaitLine(line -> line.contains("event=outliving sessions=1"));
            assertTransfers(application, rightClient);
            assertThat(outliving.process().isAlive()).isTrue();
            session.close();
            assertThat(outliving.process().awaitExit()).isZero();
        }
    }

    @Test
    void anIdleSidecarStopsAndItsSocketIsGone() {
        assertThat(left.stop()).isZero();
        assertThat(left.socket()).doesNotExist();
        assertThat(left.volumeFiles()).isEmpty();
        assertThatThrownBy(() -> leftClient.openSession("late"))
                .isInstanceOf(SidewarpException.class)
                .hasMessageContaining(left.socket().toString());
    }

    @Test
    void aSidecarStartsOverTheRemainsOfOneThatWasKilled() {
        Session doomed = leftClient.openSession("doomed");
        doomed.createSharedRegion("orphan", OCTETS);
        left.process().kill();
        left.process().awaitExit();
        assertThat(left.socket()).exists();

        try (SidecarProcess again = SidecarProcess.with("again")
                        .set("sidewarp.api.socket", left.socket().toString())
                        .set("sidewarp.shared-volume", left.volume().toString())
                        .launch();
                SidewarpClient client = left.client()) {
            client.awaitReady(Patience.LIMIT);
            assertThat(again.process().isAlive()).isTrue();
            assertTransfers(client, rightClient);
        }
    }

    @Test
    void aClientThatLeavesInTheMiddleOfItsCallsLeavesNoStackTraces() throws Exception {
        ManagedRegion region = leftClient.openSession("reader").registerManaged(16 * OCTETS);
        assertThat(region.stream(0, 16 * OCTETS).read()).isZero();

        leftClient.close();

        try (SidewarpClient other = left.client()) {
            Patience.await("the session is gone")
                    .untilAsserted(() -> assertThat(other.listSessions()).isEmpty());
        }
        left.stop();
        assertThat(left.process().output()).noneMatch(line -> line.contains("io.grpc"));
    }

    /** New sessions and connections work. */
    private static void assertTransfers(SidewarpClient from, SidewarpClient to) {
        try (Session here = from.openSession("afterwards");
                Session there = to.openSession("afterwards-peer")) {
            ManagedRegion source = here.registerManaged(100);
            ManagedRegion target = there.registerManaged(100, Access.REMOTE_WRITE);
            Link link = Link.connect(here, there);
            assertThat(link.initiator().write(source.slice(), target.address()).isSuccess())
                    .isTrue();
        }
    }
}
