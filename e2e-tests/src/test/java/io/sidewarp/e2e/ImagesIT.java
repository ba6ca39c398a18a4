// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.ContainerImage;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.ExitCodes;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.Tools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Builds the container images twice from the packaged programs, as on two machines, unpacks them, and runs them without
 * a container runtime.
 */
@ExtendWith(Logs.class)
class ImagesIT {

    private static final List<String> NAMES = List.of("sidecar", "controller", "node-agent");
    private static final Pattern LISTENING = Pattern.compile("Listening on: http://\\S+:([0-9]+)");
    private static final Pattern MANAGEMENT = Pattern.compile(" management=/?(\\S+)");

    /** Flags that make a JVM size itself as on a machine that is larger than most. */
    private static final String OTHER_MACHINE = "-XX:MaxRAM=256g -XX:ActiveProcessorCount=5";

    /** Limit for building the runtime and three images, which takes half a minute on an idle machine. */
    private static final Duration BUILD_LIMIT = Duration.ofMinutes(10);

    private static Path directory;
    private static List<String> firstBuild;
    private static List<String> secondBuild;

    @BeforeAll
    static void make() throws IOException {
        boolean root = Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        assumeTrue(root, "only root can run an image as another user");
        Tools.need("setpriv", "util-linux");
        Tools.need("nsenter", "util-linux");
        Tools.need("gcc", "gcc");
        Tools.needFile("/usr/include/infiniband/verbs.h", "libibverbs-dev");
        Tools.needFile("/usr/include/rdma/rdma_cma.h", "librdmacm-dev");
        Path packages = Programs.root().resolve("images/packages");
        try (OwnedProcess download = OwnedProcess.start("packages", List.of(packages.toString()))) {
            int status = download.awaitExit(Patience.LONG_LIMIT);
            if (status == ExitCodes.UNAVAILABLE) {
                abort("no images: " + download.output().getLast());
            }
            assertThat(status).as(download.text()).isZero();
        }
        directory = Directories.temporary("images");
        firstBuild = build("first", Map.of());
        secondBuild = build("second", Map.of("_JAVA_OPTIONS", OTHER_MACHINE));
    }

    @AfterAll
    static void delete() {
        if (directory != null) {
            Directories.delete(directory);
        }
    }

    /** Runs `./sidewarp images`, and returns what it tells of names and digests. */
    private static List<String> build(String name, Map<String, String> environment) {
        String target = directory.resolve(name).toString();
        List<String> command = List.of(Programs.root().resolve("sidewarp").toString(), "images", "--tar", target);
        Map<String, String> all = new HashMap<>(Programs.unbuilt());
        all.putAll(environment);
        try (OwnedProcess images = OwnedProcess.start("images-" + name, command, all, Programs.output())) {
            assertThat(images.awaitExit(BUILD_LIMIT)).as(images.text()).isZero();
            return images.output().stream()
                    .filter(line -> !line.startsWith("Picked up "))
                    .map(line -> line.replace(target, ""))
                    .toList();
        }
    }

    @Test
    void anInterruptedBuildLeavesNeitherItsSidecarNorItsDirectory() throws IOException {
        Path target = Programs.root().resolve("target");
        // If this list existed, the build would start no sidecar.
        Files.deleteIfExists(Programs.root().resolve("sidecar/service/target/sidecar.classes"));
        Set<Path> before = workDirectories(target);
        List<String> command = List.of(
                Programs.root().resolve("sidewarp").toString(),
                "images",
                "--tar",
                directory.resolve("none").toString());
        try (OwnedProcess images =
                OwnedProcess.start("images-interrupted", command, Programs.unbuilt(), Programs.output())) {
            ProcessHandle sidecar = Patience.await("a sidecar that tells its classes")
                    .atMost(BUILD_LIMIT)
                    .until(() -> classTeller(images), Optional::isPresent)
                    .orElseThrow();

            images.terminate();

            assertThat(images.awaitExit()).as(images.text()).isEqualTo(ExitCodes.TERMINATED);
            assertThat(workDirectories(target)).isEqualTo(before);
            Patience.await("the sidecar is gone").until(() -> !sidecar.isAlive());
        }
    }

    private static Optional<ProcessHandle> classTeller(OwnedProcess images) {
        return ProcessHandle.of(images.pid()).stream()
                .flatMap(ProcessHandle::descendants)
                .filter(process -> process.info().commandLine().orElse("").contains("-XX:DumpLoadedClassList"))
                .findFirst();
    }

    private static Set<Path> workDirectories(Path target) throws IOException {
        try (Stream<Path> files = Files.list(target)) {
            return files.filter(file -> file.getFileName().toString().startsWith("images-"))
                    .collect(Collectors.toSet());
        }
    }

    private static Path archive(String build, String name) {
        return directory.resolve(build).resolve(name + ".tar");
    }

    private static ContainerImage unpack(String name, String purpose) throws IOException {
        return ContainerImage.unpack(archive("first", name), directory.resolve(purpose));
    }

    @Test
    void twoBuildsGiveTheSameDigestsAndTheSameOctets() throws IOException {
        assertThat(firstBuild).isEqualTo(secondBuild).anyMatch(line -> line.contains("digest sha256:"));
        for (String name : NAMES) {
            assertThat(Files.mismatch(archive("first", name), archive("second", name)))
                    .as(name)
                    .isEqualTo(-1);
        }
    }

    @Test
    void theSidecarServesWithoutRightsAndHasSctpAndTheCommand() throws IOException, InterruptedException {
        ContainerImage image = unpack("sidecar", "sidecar");
        try (OwnedProcess sidecar = startSidecar(image, "sidecar", "0")) {
            Matcher management = MANAGEMENT.matcher(sidecar.text());
            assertThat(management.find()).as(sidecar.text()).isTrue();
            assertThat(status(URI.create("http://" + management.group(1) + "/q/health/ready")))
                    .isEqualTo(200);
            Path process =
                    Path.of("/proc", Long.toString(ContainerImage.main(sidecar).pid()));
            assertThat(Files.readString(process.resolve("status")))
                    .containsPattern("Uid:\\t7471\\t7471\\t7471\\t7471")
                    .containsPattern("Gid:\\t7471\\t7471\\t7471\\t7471")
                    .containsPattern("CapPrm:\\t0{16}")
                    .containsPattern("CapEff:\\t0{16}")
                    .containsPattern("NoNewPrivs:\\t1");
            assertThat(Files.readString(process.resolve("mounts")).lines().findFirst())
                    .hasValueSatisfying(
                            mount -> assertThat(mount).contains(" / ").contains(" ro,"));
            assertThat(Files.readAllLines(process.resolve("maps")))
                    .as("the archive of classes is used; the log: %s", sidecar.text())
                    .anyMatch(line -> line.endsWith("/opt/sidewarp/app/sidecar.jsa"));
            try (OwnedProcess show = image.exec(sidecar, "sidewarp", "show", "device")) {
                assertThat(show.awaitExit()).as(show.text()).isZero();
                assertThat(show.text()).contains("tcp, sctp").doesNotContain("WARNING");
            }
            ContainerImage.main(sidecar).destroy();
            sidecar.awaitLine(line -> line.contains("event=stopped"));
            assertThat(sidecar.awaitExit()).as(sidecar.text()).isZero();
            assertThat(sidecar.text()).doesNotContain("ERROR");
        }
    }

    @Test
    void namesOfFilesNeedNotBeAscii() throws IOException {
        ContainerImage image = unpack("sidecar", "names");
        try (OwnedProcess sidecar = startSidecar(image, "names", "0");
                OwnedProcess java = image.exec(sidecar, "java", "-XshowSettings:properties", "-version")) {
            assertThat(java.awaitExit()).as(java.text()).isZero();
            assertThat(java.text()).contains("sun.jnu.encoding = UTF-8");
        }
    }

    @Test
    void twoSidecarsTalkOverSctp() throws IOException {
        ContainerImage image = unpack("sidecar", "sctp");
        String port = Integer.toString(Ports.freeUdp());
        try (OwnedProcess left = startSidecar(image, "left", port);
                OwnedProcess right = startSidecar(image, "right", "0");
                OwnedProcess server =
                        image.exec(left, "sidewarp", "ping", "--llp", "sctp", "--listen", "127.0.0.1:0", "--once")) {
            // Behind it the UDP port is told.
            String address = CliProcess.awaitAddress(server).split(" ", 2)[0];
            try (OwnedProcess ping = image.exec(
                    right, "sidewarp", "ping", "--llp", "sctp", "--udp-port", port, address, "--count", "1")) {
                assertThat(ping.awaitExit()).as(ping.text()).isZero();
            }
            assertThat(server.awaitExit()).as(server.text()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"LD_PRELOAD, /libsidewarp-verbs.so", "LD_LIBRARY_PATH, ''"})
    void aProgramFindsTheVerbsLibraryThatTheInstallerCopied(String variable, String file) throws IOException {
        Tools.need("ibv_devinfo", "ibverbs-utils");
        ContainerImage image = unpack("sidecar", "verbs-" + variable);
        try (OwnedProcess sidecar = startSidecar(image, "verbs", "0")) {
            try (OwnedProcess installer = image.exec(sidecar, "sidewarp-verbs", "/tmp")) {
                assertThat(installer.awaitExit()).as(installer.text()).isZero();
            }
            String root = "/proc/" + ContainerImage.main(sidecar).pid() + "/root";
            Map<String, String> environment = Map.of(
                    variable,
                    root + "/tmp" + file,
                    "SIDEWARP_API",
                    "unix://" + root + "/run/sidewarp/api.sock",
                    "SIDEWARP_VOLUME",
                    root + "/run/sidewarp/shared");
            try (OwnedProcess devices =
                    OwnedProcess.start("devices-" + variable, List.of("ibv_devinfo"), environment, Programs.output())) {
                assertThat(devices.awaitExit()).as(devices.text()).isZero();
                assertThat(devices.text()).contains("sidewarp0", "iWARP").doesNotContain("ERROR");
            }
        }
    }

    private static OwnedProcess startSidecar(ContainerImage image, String name, String udpPort) throws IOException {
        OwnedProcess sidecar = image.start(
                "image-" + name,
                Map.of("SIDEWARP_MANAGEMENT_PORT", "0", "SIDEWARP_SCTP_UDP_PORT", udpPort),
                List.of("/run/sidewarp"));
        sidecar.awaitLine(line -> line.contains("event=started"));
        return sidecar;
    }

    @Test
    void theControllerSaysThatThereIsNoApiServer() throws IOException {
        ContainerImage image = unpack("controller", "controller");
        try (OwnedProcess controller = image.start("image-controller", Map.of("QUARKUS_HTTP_PORT", "0"), List.of())) {
            assertThat(controller.awaitLine(line -> line.contains("event=api-server-away")))
                    .contains("url=https://kubernetes.default.svc");
        }
    }

    @Test
    void theNodeAgentStartsWithTheArchiveOfItsClasses() throws IOException, InterruptedException {
        ContainerImage image = unpack("node-agent", "node-agent");
        Map<String, String> environment = Map.of("QUARKUS_HTTP_PORT", "0", "NODE_NAME", "some-node");
        try (OwnedProcess agent = image.start("image-node-agent", environment, List.of())) {
            agent.awaitLine(line -> line.contains("Installed features: "));
            Path process =
                    Path.of("/proc", Long.toString(ContainerImage.main(agent).pid()));
            assertThat(Files.readAllLines(process.resolve("maps")))
                    .as("the archive of classes is used; the log: %s", agent.text())
                    .anyMatch(line -> line.endsWith("/opt/sidewarp/app/node-agent.jsa"));
            agent.awaitLine(line -> line.contains("event=api-server-away"));
            Matcher address = LISTENING.matcher(agent.text());
            assertThat(address.find()).as(agent.text()).isTrue();
            assertThat(status(URI.create("http://127.0.0.1:" + address.group(1) + "/q/health/live")))
                    .as("503 because the state directory is read-only here; the log: %s", agent.text())
                    .isIn(200, 503);
            assertThat(agent.text()).doesNotContain("IllegalAccessError", "NoSuchMethodError");
        }
    }

    @Test
    void theNodeAgentSaysThatItNeedsTheNameOfItsNode() throws IOException {
        ContainerImage image = unpack("node-agent", "nameless");
        try (OwnedProcess agent = image.start("image-nameless", Map.of("QUARKUS_HTTP_PORT", "0"), List.of())) {
            assertThat(agent.awaitExit()).as(agent.text()).isNotZero();
            assertThat(agent.text()).contains("set NODE_NAME from spec.nodeName");
        }
    }

    @Test
    void eachLibraryOfDebianFindsThoseThatItNeeds() throws IOException {
        ContainerImage image = unpack("sidecar", "libraries");
        List<String> libraries = image.files().stream()
                .filter(file -> !file.startsWith("/opt"))
                .map(Path::toString)
                .filter(file -> file.matches(".*/lib[^/]*\\.so(\\.[0-9]+)?"))
                .toList();

        assertThat(libraries)
                .contains(
                        "/usr/lib/x86_64-linux-gnu/libusrsctp.so.2",
                        "/usr/lib/x86_64-linux-gnu/librdmacm.so.1",
                        "/usr/lib/x86_64-linux-gnu/libibverbs.so.1",
                        "/usr/lib/x86_64-linux-gnu/libibverbs/libsiw-rdmav34.so",
                        "/usr/lib/x86_64-linux-gnu/libibverbs/libcxgb4-rdmav34.so");
        List<String> command = new ArrayList<>(List.of(
                "bash",
                "-c",
                "for library; do chroot . /lib64/ld-linux-x86-64.so.2 --list \"$library\" || echo \"in $library\";"
                        + " done",
                "libraries"));
        command.addAll(libraries);
        try (OwnedProcess loader = OwnedProcess.start("libraries", command, Map.of(), image.root())) {
            assertThat(loader.awaitExit()).isZero();
            assertThat(loader.output())
                    .hasSizeGreaterThan(libraries.size())
                    .noneMatch(line -> line.contains("not found") || line.startsWith("in "));
        }
    }

    @Test
    void thereIsNothingToGetRightsWithAndNoShell() throws IOException {
        for (String name : NAMES) {
            ContainerImage image = unpack(name, "rights-" + name);
            assertThat(image.files())
                    .as(name)
                    .noneMatch(
                            file -> file.startsWith("/bin") || file.startsWith("/usr/bin") || file.startsWith("/sbin"))
                    .allSatisfy(file -> assertThat(
                                    mode(image.root().resolve(file.toString().substring(1))))
                            .isIn(0644, 0755));
        }
    }

    private static int mode(Path file) {
        try {
            return (int) Files.getAttribute(file, "unix:mode") & 07777;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int status(URI uri) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }
    }
}
