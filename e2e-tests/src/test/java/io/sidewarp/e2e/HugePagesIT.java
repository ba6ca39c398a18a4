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
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import io.sidewarp.operator.testing.TestResource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests a shared volume of huge pages, as a pod has it with the medium HugePages-2Mi. Mounts a file system of the same
 * kind in a mount namespace of the sidecar. Needs root, and a kernel that has or can allocate some huge pages.
 */
@ExtendWith(Logs.class)
class HugePagesIT {

    private static final Path POOL = Path.of("/proc/sys/vm/nr_hugepages");
    private static final int PAGES = 16;
    private static final String MOUNT = "mount -t hugetlbfs -o size=\"$0\" none \"$1\" && shift && exec \"$@\"";

    private TestResource pool;
    private long page;
    private Path volume;
    private SidecarProcess sidecar;

    @BeforeEach
    void startWithHugePages() throws IOException {
        assumeTrue(Files.isWritable(POOL), "only root can reserve huge pages");
        long before = Long.parseLong(Files.readString(POOL).strip());
        page = fact("Hugepagesize") << 10;
        pool = TestResource.of(() -> setPool(before));
        setPool(before + PAGES);
        assumeTrue(fact("HugePages_Free") >= PAGES, "the kernel has no " + PAGES + " huge pages");
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
    void stop() {
        if (sidecar != null) {
            sidecar.close();
        }
        if (volume != null) {
            Directories.delete(volume);
        }
        if (pool != null) {
            pool.close();
        }
    }

    private static void setPool(long pages) {
        try {
            Files.writeString(POOL, String.valueOf(pages));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long fact(String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith(name + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElse(0);
    }

    /** Pages that the volume has left; others may take and give back pages of the machine. */
    private long free() {
        List<String> blocks = Tools.output(
                List.of("stat", "--file-system", "--format=%f", seenVolume().toString()),
                Programs.output().resolve("stat.err"));
        return Long.parseLong(blocks.getFirst());
    }

    /** This process is in another mount namespace. */
    private Path seenVolume() {
        return Path.of("/proc", String.valueOf(sidecar.process().pid()), "root" + volume);
    }

    private SidewarpClient client() {
        return SidewarpClient.connect(sidecar.clientOptions().withSharedVolume(seenVolume()));
    }

    @Test
    void regionsInHugePagesAreWrittenAndReadAndGivenBack() throws Exception {
        assertThat(free()).isEqualTo(PAGES);
        long length = page + page / 2 + 100;
        try (SidewarpClient client = client();
                Session session = client.openSession("huge")) {
            assertThat(client.device().pageSize()).isEqualTo(page);
            try (SharedRegion source = session.createSharedRegion("source", length);
                    SharedRegion target =
                            session.createSharedRegion("target", length, Access.REMOTE_WRITE, Access.REMOTE_READ);
                    SharedRegion copy = session.createSharedRegion("copy", length, Access.LOCAL_WRITE)) {
                assertThat(target.length()).isEqualTo(length);
                assertThat(free()).as("two pages for each region").isEqualTo(PAGES - 3 * 2);
                Pattern.fill(source.segment(), 1);
                Link link = Link.connect(session, session);

                link.initiator().write(source.slice(), target.address());
                // Answered behind the Write, which has its place then.
                link.initiator().read(copy.slice(), target.address());

                assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
                assertThat(copy.segment().mismatch(source.segment())).isEqualTo(-1);
            }
            assertThat(free()).as("after the regions are gone").isEqualTo(PAGES);
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
        try (SidewarpClient client = client();
                Session session = client.openSession("huge")) {

            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> session.createSharedRegion("large", (PAGES + 1) * page))
                    .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED))
                    .withMessageContaining("no room for large");

            assertThat(free()).isEqualTo(PAGES);
            session.createSharedRegion("small", page).close();
        }
    }
}
