// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.grpc.Status;
import io.sidewarp.client.Access;
import io.sidewarp.client.RegionOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.SidecarProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A shared volume of huge pages, as a pod has it with the medium HugePages-2Mi: a file system of the kind that the kernel mounts
 * for it, in a mount namespace of the sidecar. Takes root, and a kernel that has or can get some huge pages.
 */
@ExtendWith(Logs.class)
class HugePagesIT {

    private static final Path POOL = Path.of("/proc/sys/vm/nr_hugepages");
    private static final int PAGES = 16;
    private static final String MOUNT = "mount -t hugetlbfs -o size=\"$0\" none \"$1\" && shift && exec \"$@\"";

    private long before;
    private long page;
    private Path volume;
    private SidecarProcess sidecar;

    @BeforeEach
    void startWithHugePages() throws IOException {
        assumeTrue(Files.isWritable(POOL), "only root can reserve huge pages");
        before = Long.parseLong(Files.readString(POOL).strip());
        page = fact("Hugepagesize") << 10;
        Files.writeString(POOL, String.valueOf(before + PAGES));
        assumeTrue(free() >= PAGES, "the kernel has no " + PAGES + " huge pages");
        volume = Directories.temporary("huge");
        sidecar = SidecarProcess.with("huge")
                .set("sidewarp.shared-volume", volume.toString())
                .prefix(List.of(
                        "unshare",
                        "--mount",
                        "--propagation",
                        "private",
                        "sh",
                        "-c",
                        MOUNT,
                        String.valueOf(PAGES * page),
                        volume.toString()))
                .start();
    }

    @AfterEach
    void stop() throws IOException {
        if (sidecar != null) {
            sidecar.close();
        }
        if (volume != null) {
            Directories.delete(volume);
        }
        if (page > 0) {
            Files.writeString(POOL, String.valueOf(before));
        }
    }

    private static long fact(String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith(name + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElse(0);
    }

    private static long free() throws IOException {
        return fact("HugePages_Free");
    }

    private SidewarpClient client() {
        // This process is in another mount namespace.
        Path seen = Path.of("/proc", String.valueOf(sidecar.process().pid()), "root" + volume);
        return SidewarpClient.connect(sidecar.clientOptions().withSharedVolume(seen));
    }

    @Test
    void regionsInHugePagesAreWrittenAndReadAndGivenBack() throws Exception {
        long unused = free();
        long length = page + page / 2 + 100;
        try (SidewarpClient client = client();
                Session session = client.openSession("huge")) {
            assertThat(client.device().getPageSize()).isEqualTo(page);
            try (SharedRegion source = session.createSharedRegion("source", length);
                    SharedRegion target =
                            session.createSharedRegion("target", length, Access.REMOTE_WRITE, Access.REMOTE_READ);
                    SharedRegion copy = session.createSharedRegion("copy", length, Access.LOCAL_WRITE)) {
                assertThat(target.length()).isEqualTo(length);
                assertThat(free()).as("two pages for each region").isEqualTo(unused - 3 * 2);
                Pattern.fill(source.segment(), 1);
                Link link = Link.connect(session, session);

                link.initiator().write(source.slice(), target.address());
                // Answered behind the Write, which has its place then.
                link.initiator().read(copy.slice(), target.address());

                assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
                assertThat(copy.segment().mismatch(source.segment())).isEqualTo(-1);
            }
            assertThat(free()).as("after the regions are gone").isEqualTo(unused);
        }
    }

    @Test
    void aRegionBeginsWithAHugePage() throws Exception {
        try (SidewarpClient client = client();
                Session session = client.openSession("huge")) {
            SharedRegion whole = session.createSharedRegion("whole", 2 * page);

            try (SharedRegion half =
                    session.openSharedRegion("whole", page, page, RegionOptions.of(Access.LOCAL_WRITE))) {
                assertThat(half.length()).isEqualTo(page);
            }
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() ->
                            session.openSharedRegion("whole", page / 2, page, RegionOptions.of(Access.LOCAL_WRITE)))
                    .withMessageContaining("multiple of the volume's page size, " + page);
            whole.close();
        }
    }

    @Test
    void withoutHugePagesLeftARegionIsRefusedAndNothingIsLost() throws Exception {
        long unused = free();
        try (SidewarpClient client = client();
                Session session = client.openSession("huge")) {

            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> session.createSharedRegion("large", (PAGES + 1) * page))
                    .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED))
                    .withMessageContaining("no room for large");

            assertThat(free()).isEqualTo(unused);
            session.createSharedRegion("small", page).close();
        }
    }
}
