// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.sidewarp.client.CreateMode;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.e2e.programs.SteadyTransfer;
import io.sidewarp.e2e.support.ClientProcess;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.SidecarProcess;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests applications after their sidecar has died: their files, and work that continues with the next sidecar. */
@ExtendWith(Logs.class)
class RecoveryIT {

    private static final int OCTETS = 1 << 20;

    /** Blocks that arrive before and after each death. */
    private static final int PROGRESS = 500;

    private final List<AutoCloseable> owned = new ArrayList<>();

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable process : owned.reversed()) {
            process.close();
        }
    }

    private <T extends AutoCloseable> T own(T part) {
        owned.add(part);
        return part;
    }

    @Test
    void transferContinuesAfterTheDeathOfEitherSidecar() throws Exception {
        SidecarProcess left = own(SidecarProcess.start("left"));
        SidecarProcess right = own(SidecarProcess.start("right"));
        String port = Integer.toString(Ports.free());
        OwnedProcess receiver = own(program("receive", right, port));
        receiver.awaitLine(SteadyTransfer.READY::equals);
        OwnedProcess sender = own(program("send", left, port));
        awaitBlock(sender, PROGRESS);

        own(left.replace("left-again"));
        long arrived = awaitBlock(sender, last(sender) + PROGRESS);

        own(right.replace("right-again"));
        receiver.awaitLine((SteadyTransfer.READY + SteadyTransfer.KEPT)::equals);
        arrived = awaitBlock(sender, Math.max(arrived, last(sender)) + PROGRESS);

        assertThat(sender.isAlive()).isTrue();
        assertThat(receiver.isAlive()).isTrue();
        sender.kill();
        sender.awaitExit();
        assertBlocks(right.volume().resolve("inbox"), arrived);
    }

    private static OwnedProcess program(String role, SidecarProcess sidecar, String port) {
        return ClientProcess.start(
                SteadyTransfer.class, role, sidecar.target(), sidecar.volume().toString(), Link.LOOPBACK, port);
    }

    private static long awaitBlock(OwnedProcess sender, long wanted) {
        return number(sender.awaitLine(line -> number(line) >= wanted));
    }

    private static long last(OwnedProcess sender) {
        return sender.output().stream().mapToLong(RecoveryIT::number).max().orElse(-1);
    }

    private static long number(String line) {
        return line.startsWith(SteadyTransfer.ARRIVED)
                ? Long.parseLong(line.substring(SteadyTransfer.ARRIVED.length()))
                : -1;
    }

    /** The receiver has the last blocks without a gap; the one that was under way may be there in part. */
    private static void assertBlocks(Path inbox, long arrived) throws IOException {
        ByteBuffer memory = ByteBuffer.wrap(Files.readAllBytes(inbox)).order(ByteOrder.nativeOrder());
        List<Long> whole = new ArrayList<>();
        for (int slot = 0; slot < SteadyTransfer.SLOTS; slot++) {
            ByteBuffer block = memory.slice(slot * SteadyTransfer.BLOCK, SteadyTransfer.BLOCK)
                    .order(ByteOrder.nativeOrder());
            long number = block.getLong(0);
            if (LongStream.iterate(0, at -> at < SteadyTransfer.BLOCK, at -> at + Long.BYTES)
                    .allMatch(at -> block.getLong((int) at) == number)) {
                whole.add(number);
            }
        }
        assertThat(whole.size()).isGreaterThanOrEqualTo(SteadyTransfer.SLOTS - 1);
        long newest = whole.stream().mapToLong(Long::longValue).max().orElseThrow();
        assertThat(newest).isGreaterThanOrEqualTo(arrived);
        assertThat(whole).doesNotHaveDuplicates().allMatch(number -> number > newest - SteadyTransfer.SLOTS);
    }

    @Test
    void filesOfADeadSidecarAreTakenOverOrRemovedAndOthersStay() throws Exception {
        SidecarProcess first = own(SidecarProcess.start("first"));
        Files.writeString(first.volume().resolve("own"), "the application's");
        try (SidewarpClient client = first.client()) {
            Session doomed = client.openSession("doomed");
            for (String name : List.of("taken", "replaced", "forgotten")) {
                doomed.createSharedRegion(name, OCTETS).segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 42);
            }
            own(first.replace("second"));
        }
        try (SidewarpClient client = first.client();
                Session session = client.openSession("next")) {
            assertRefused(() -> session.createSharedRegion("taken", OCTETS), "open-or-create");
            assertRefused(
                    () -> session.createSharedRegion("own", OCTETS, CreateMode.REPLACE), "the application's own file");

            SharedRegion taken = session.createSharedRegion("taken", OCTETS, CreateMode.OPEN_OR_CREATE);
            SharedRegion replaced = session.createSharedRegion("replaced", OCTETS, CreateMode.REPLACE);

            assertThat(taken.fileExisted()).isTrue();
            assertThat(taken.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 42);
            assertThat(replaced.fileExisted()).isFalse();
            assertThat(replaced.segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();
            assertRefused(
                    () -> session.createSharedRegion("taken", OCTETS, CreateMode.OPEN_OR_CREATE),
                    "region " + taken.id() + " of session \"next\"");
            assertThat(first.volume().resolve("forgotten")).exists();
            Patience.await("the sidecar removes what nobody took over")
                    .untilAsserted(() ->
                            assertThat(first.volume().resolve("forgotten")).doesNotExist());
            assertThat(first.volume().resolve("taken")).exists();
            assertThat(first.volume().resolve("replaced")).exists();
            taken.close();
            replaced.close();
        }
        assertThat(first.volumeFiles()).containsExactly(first.volume().resolve("own"));
        assertThat(first.volume().resolve("own")).hasContent("the application's");
    }

    private static void assertRefused(Runnable creation, String reason) {
        assertThatThrownBy(creation::run)
                .isInstanceOfSatisfying(
                        SidewarpException.class,
                        refusal -> assertThat(refusal.code()).isEqualTo(Status.Code.ALREADY_EXISTS))
                .hasMessageContaining(reason);
    }
}
