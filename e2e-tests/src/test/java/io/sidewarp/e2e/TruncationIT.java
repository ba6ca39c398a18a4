// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.client.Access;
import io.sidewarp.client.CompletionStatus;
import io.sidewarp.client.Connection;
import io.sidewarp.client.RegionInfo;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkRequest;
import io.sidewarp.e2e.support.Bystander;
import io.sidewarp.e2e.support.Events;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Traffic;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests an application that truncates the file of a region in use. Only that application may suffer. */
@ExtendWith(Logs.class)
class TruncationIT {

    private static final int OCTETS = 4 << 20;

    private SidecarProcess left;
    private SidecarProcess right;
    private SidewarpClient leftClient;
    private SidewarpClient rightClient;
    private Session here;
    private Session there;
    private Bystander bystander;

    @BeforeEach
    void startSidecars() {
        left = SidecarProcess.start("left");
        right = SidecarProcess.start("right");
        leftClient = left.client();
        rightClient = right.client();
        here = leftClient.openSession("here");
        there = rightClient.openSession("there");
        bystander = new Bystander(left, right);
    }

    @AfterEach
    void stopSidecars() {
        bystander.close();
        leftClient.close();
        rightClient.close();
        left.close();
        right.close();
    }

    private static void assertCloseTellsOfTheLoss(Connection connection) {
        assertThatThrownBy(connection::close)
                .isInstanceOf(SidewarpException.class)
                .hasMessageContaining("may not have arrived");
    }

    @Test
    void aTargetThatIsTruncatedUnderWritesCostsItsConnectionOnly() throws Exception {
        Events owner = Events.of(there);
        SharedRegion source = here.createSharedRegion("source", OCTETS);
        SharedRegion target = there.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE);
        Link link = Link.connect(here, there);
        Connection other = Link.connect(here, there).initiator();
        SharedRegion otherTarget = there.createSharedRegion("other-target", OCTETS, Access.REMOTE_WRITE);
        try (Traffic traffic = new Traffic(
                here, link.initiator(), 8, WorkRequest.write(link.initiator(), target.address(), source.slice()))) {
            traffic.awaitFlow();

            truncate(right.volume().resolve("target"));

            traffic.awaitEnd();
            assertThat(owner.awaitFault().region()).isEqualTo(target.id());
            assertThat(owner.awaitFault().message()).isNotBlank();
            owner.awaitError(link.responder());
            assertThat(stateOf(there, target)).isEqualTo(RegionInfo.State.FAULTED);
        }
        assertThat(other.write(source.slice(), otherTarget.address()).isSuccess())
                .isTrue();
        assertCloseTellsOfTheLoss(link.initiator());
        bystander.awaitProgress();
        assertThat(right.process().isAlive()).isTrue();
    }

    @Test
    void aSourceThatIsTruncatedUnderWritesFailsThemWithARegionFault() throws Exception {
        Events owner = Events.of(here);
        SharedRegion source = here.createSharedRegion("source", OCTETS);
        SharedRegion target = there.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE);
        Link link = Link.connect(here, there);
        try (Traffic traffic = new Traffic(
                here, link.initiator(), 8, WorkRequest.write(link.initiator(), target.address(), source.slice()))) {
            traffic.awaitFlow();

            truncate(left.volume().resolve("source"));

            traffic.awaitEnd();
            assertThat(traffic.count(CompletionStatus.REGION_FAULT)).isEqualTo(1);
            assertThat(owner.awaitFault().region()).isEqualTo(source.id());
        }
        Link fresh = Link.connect(here, there);
        assertThatThrownBy(() -> fresh.initiator().write(source.slice(), target.address()))
                .isInstanceOf(SidewarpException.class)
                .hasMessageContaining("FAULTED");
        assertCloseTellsOfTheLoss(link.initiator());
        bystander.awaitProgress();
        assertThat(left.process().isAlive()).isTrue();
    }

    @Test
    void aSourceThatIsTruncatedUnderReadsOfThePeerCostsItsConnectionOnly() throws Exception {
        Events owner = Events.of(there);
        SharedRegion sink = here.createSharedRegion("sink", OCTETS, Access.LOCAL_WRITE);
        SharedRegion source = there.createSharedRegion("source", OCTETS, Access.REMOTE_READ);
        Link link = Link.connect(here, there);
        try (Traffic traffic = new Traffic(
                here, link.initiator(), 8, WorkRequest.read(link.initiator(), source.address(), sink.slice()))) {
            traffic.awaitFlow();

            truncate(right.volume().resolve("source"));

            traffic.awaitEnd();
            assertThat(owner.awaitFault().region()).isEqualTo(source.id());
            Patience.get(link.responder().closed());
        }
        bystander.awaitProgress();
        assertThat(right.process().isAlive()).isTrue();
    }

    private static RegionInfo.State stateOf(Session session, SharedRegion region) {
        return session.listRegions().stream()
                .filter(listed -> listed.id() == region.id())
                .map(RegionInfo::state)
                .findAny()
                .orElseThrow();
    }

    private static void truncate(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(0);
        }
    }
}
