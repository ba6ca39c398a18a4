// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.client.Access;
import io.sidewarp.client.Session;
import io.sidewarp.client.SessionState;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SupervisedSession;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests sidecars that die repeatedly over a shared volume of 16 MiB, in a mount namespace of its own. Needs root. */
@ExtendWith(Logs.class)
class SmallVolumeIT {

    private static final int CRASHES = 3;
    private static final long LENGTH = 6 << 20;
    private static final String MOUNT = "mount -t tmpfs -o size=16m none \"$0\" && echo mounted && exec cat";

    private Path volume;
    private OwnedProcess holder;
    private final List<SidecarProcess> sidecars = new ArrayList<>();

    @BeforeEach
    void mount() throws IOException {
        boolean root = Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        assumeTrue(root, "only root can mount a volume");
        Tools.need("unshare", "util-linux");
        Tools.need("nsenter", "util-linux");
        volume = Directories.temporary("small");
        holder = OwnedProcess.start(
                "small-volume",
                List.of("unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNT, volume.toString()));
        holder.awaitLine("mounted"::equals);
        startSidecar();
    }

    @AfterEach
    void stop() {
        sidecars.reversed().forEach(SidecarProcess::close);
        if (holder != null) {
            holder.close();
        }
        if (volume != null) {
            Directories.delete(volume);
        }
    }

    /** All of them have the socket of the first. */
    private void startSidecar() {
        SidecarProcess.Builder settings = SidecarProcess.with("small-" + sidecars.size())
                .set("sidewarp.shared-volume", volume.toString())
                .prefix(List.of("nsenter", "--mount=/proc/" + holder.pid() + "/ns/mnt"));
        if (!sidecars.isEmpty()) {
            settings.set("sidewarp.api.socket", sidecars.getFirst().socket().toString());
        }
        sidecars.add(settings.launch());
        try (SidewarpClient client = client()) {
            client.awaitReady(Patience.LIMIT);
        }
    }

    private void crash() {
        sidecars.getLast().process().kill();
        sidecars.getLast().process().awaitExit();
        startSidecar();
    }

    /** This process is in another mount namespace. */
    private SidewarpClient client() {
        Path seen = Path.of("/proc", String.valueOf(holder.pid()), "root" + volume);
        return SidewarpClient.connect(sidecars.getFirst().clientOptions().withSharedVolume(seen));
    }

    @Test
    void regionsOfNewNamesFindRoomAfterThreeCrashes() {
        try (SidewarpClient client = client()) {
            for (int crashes = 0; crashes < CRASHES; crashes++) {
                try (Session session = client.openSession("crashing")) {
                    fill(session.createSharedRegion("region-" + crashes, LENGTH), crashes);
                    crash();
                }
            }
            try (Session session = client.openSession("last");
                    SharedRegion last = session.createSharedRegion("last", LENGTH)) {
                fill(last, CRASHES);
            }
        }
    }

    @Test
    void supervisedRegionsKeepTheirContentThroughThreeCrashes() throws Exception {
        BlockingQueue<SessionState> states = new LinkedBlockingQueue<>();
        try (SidewarpClient client = client();
                SupervisedSession ignored = client.supervise("supervised")
                        .region("one", LENGTH, Access.REMOTE_WRITE)
                        .region("two", LENGTH, Access.REMOTE_WRITE)
                        .start(states::add)) {
            SessionState first = next(states);
            fill(first.region("one"), 1);
            fill(first.region("two"), 2);
            SessionState state = first;
            for (int crashes = 0; crashes < CRASHES; crashes++) {
                crash();
                SessionState after = next(states);
                assertThat(after.session().id()).isNotEqualTo(state.session().id());
                assertKept(after.region("one"), 1);
                assertKept(after.region("two"), 2);
                state = after;
            }
            assertThat(state.region("one").segment().address())
                    .isEqualTo(first.region("one").segment().address());
        }
    }

    private static SessionState next(BlockingQueue<SessionState> states) throws InterruptedException {
        SessionState state = states.poll(Patience.LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(state).as("the next state").isNotNull();
        return state;
    }

    private static void assertKept(SharedRegion region, int content) {
        assertThat(region.fileExisted()).isTrue();
        assertThat(region.segment().get(ValueLayout.JAVA_BYTE, LENGTH - 1)).isEqualTo((byte) content);
    }

    private static void fill(SharedRegion region, int content) {
        region.segment().fill((byte) content);
    }
}
