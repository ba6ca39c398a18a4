// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sidewarp.e2e.support.CliProcess.Ended;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.ExitCodes;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Programs;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests {@code ./sidewarp} on machines that lack programs. A copy of the script builds nothing, because it uses
 * stand-ins for Maven and apt.
 */
@ExtendWith(Logs.class)
class ScriptIT {

    private static final Set<String> LACKING =
            Set.of("mvn", "unzip", "curl", "wget", "apt-get", "dpkg-deb", "iperf3", "tshark");

    private static Path present;

    private Path directory;
    private Path programs;
    private Path checkout;

    @BeforeAll
    static void linkPrograms() throws IOException {
        present = Directories.temporary("script-path");
        List<Path> places = Pattern.compile(File.pathSeparator)
                .splitAsStream(System.getenv("PATH"))
                .map(Path::of)
                .filter(Files::isDirectory)
                .toList();
        for (Path place : places) {
            link(place);
        }
    }

    @AfterAll
    static void unlinkPrograms() {
        Directories.delete(present);
    }

    @BeforeEach
    void copy() throws IOException {
        directory = Directories.temporary("script");
        programs = Files.createDirectory(directory.resolve("bin"));
        checkout = Files.createDirectory(directory.resolve("checkout"));
        Programs.copyScript(checkout);
    }

    @AfterEach
    void delete() {
        Directories.delete(directory);
    }

    private String path() {
        return programs + File.pathSeparator + present;
    }

    private static void link(Path place) throws IOException {
        try (Stream<Path> files = Files.list(place)) {
            for (Path file : files.toList()) {
                Path name = present.resolve(file.getFileName());
                if (!LACKING.contains(file.getFileName().toString()) && !Files.exists(name)) {
                    Files.createSymbolicLink(name, file);
                }
            }
        }
    }

    /** Lets a script play a program; its calls go to a file beside it. */
    private static void play(Path program, String script) throws IOException {
        Files.writeString(
                program,
                "#!/bin/sh\necho \"${HOME:-no home} $*\" >>'" + program + ".calls'\ncd '" + program.getParent() + "'\n"
                        + script);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** None when it was not called. */
    private static List<String> calls(Path program) throws IOException {
        Path calls = program.resolveSibling(program.getFileName() + ".calls");
        return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
    }

    private Ended run(Map<String, String> environment, String... command) {
        try (OwnedProcess process = OwnedProcess.start("script", List.of(command), environment, checkout)) {
            int exitCode = process.awaitExit();
            return new Ended(exitCode, process.output());
        }
    }

    /** Builds in the copy. */
    private Ended build() {
        return command("build");
    }

    /** Carries out a command of the copy. */
    private Ended command(String... arguments) {
        return run(
                environment(),
                Stream.concat(Stream.of("env", "-u", "HOME", "./sidewarp"), Stream.of(arguments))
                        .toArray(String[]::new));
    }

    private Path mavenHome() {
        return directory.resolve("m2");
    }

    private Map<String, String> environment() {
        return Map.of(
                "PATH",
                path(),
                "MAVEN_USER_HOME",
                mavenHome().toString(),
                "JAVA_HOME",
                System.getProperty("java.home"),
                "SIDEWARP_BUILD",
                "",
                "KUBEBUILDER_ASSETS",
                "");
    }

    @Test
    void mavenIsDownloadedWithoutAHomeAndByJavaAlone() throws IOException {
        Path wrapper = checkout.resolve("mvnw");
        play(wrapper, "");
        play(programs.resolve("unzip"), "");

        Ended ended = build();

        assertThat(ended.exitCode()).as(ended.text()).isZero();
        String home = System.getProperty("user.home");
        assertThat(calls(wrapper)).hasSize(2);
        assertThat(calls(wrapper).getFirst()).isEqualTo(home + " --version");
        assertThat(calls(wrapper).getLast()).startsWith(home + " -B -q package ");
    }

    @Test
    void whatMavenLacksIsToldInItsOwnWords() throws IOException {
        play(checkout.resolve("mvnw"), "echo 'Error: curl: Failed to fetch Maven' >&2; exit 1");
        play(programs.resolve("unzip"), "");

        build().assertFailed(ExitCodes.UNAVAILABLE, "curl: Failed to fetch Maven", "no mvn is on the PATH");
    }

    @Test
    void aDownloadOfMavenIsTold() throws IOException {
        play(checkout.resolve("mvnw"), "");
        play(programs.resolve("unzip"), "");

        assertThat(build().text()).contains("downloading Maven");

        Files.createDirectories(mavenHome().resolve("wrapper/dists/apache-maven-3/1234"));
        assertThat(build().text()).doesNotContain("downloading Maven");
    }

    @Test
    void aDownloadOfMavenIsGivenUpSoonUnlessTheUserSaysHowWgetTries() throws IOException {
        play(checkout.resolve("mvnw"), "echo \"wget as in $WGETRC\" >&2; exit 1");
        play(programs.resolve("unzip"), "");
        Map<String, String> environment = new HashMap<>(environment());
        environment.put("HOME", directory.toString());

        assertThat(run(environment, "./sidewarp", "build").text())
                .contains("wget as in " + checkout.resolve(".mvn/wrapper/wgetrc"));
        assertThat(Programs.root().resolve(".mvn/wrapper/wgetrc"))
                .content()
                .contains("\ntries = 2\n", "\nconnect_timeout = 20\n");

        Path own = Files.createFile(directory.resolve(".wgetrc"));
        assertThat(run(environment, "./sidewarp", "build").text()).contains("wget as in " + own);
    }

    @Test
    void unzipIsInstalledOrAskedFor() throws IOException {
        play(checkout.resolve("mvnw"), "");

        build().assertFailed(ExitCodes.UNAVAILABLE, "it needs unzip");

        Path apt = playInstallation("exit");
        play(checkout.resolve("mvnw"), "");
        Ended ended = build();
        assertThat(ended.exitCode()).as(ended.text()).isZero();
        assertThat(calls(apt).getLast()).endsWith(" unzip");
    }

    @Test
    void setupInstallsPackagesOrNamesThemAndStops() throws IOException {
        play(checkout.resolve("mvnw"), "");
        play(programs.resolve("unzip"), "");

        command("setup").assertFailed(ExitCodes.UNAVAILABLE, "the tests need", "tshark", "apt-get install");

        Path apt = playInstallation("exit");
        play(checkout.resolve("mvnw"), "");
        Ended ended = command("setup");
        assertThat(ended.exitCode()).as(ended.text()).isZero();
        assertThat(calls(apt)).anyMatch(call -> call.contains(" install ") && call.contains(" tshark"));
    }

    @Test
    void whoeverElseInstallsPackagesIsWaitedFor() throws IOException {
        play(programs.resolve("unzip"), "");
        Path apt = playInstallation("""
                [ -e asked ] && exit
                touch asked
                echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)' >&2
                exit 100
                """);

        Ended ended = build();

        assertThat(ended.exitCode()).as(ended.text()).isZero();
        assertThat(calls(apt)).hasSize(3);
        assertThat(calls(apt).getLast()).contains("DPkg::Lock::Timeout=", "install", "maven");
    }

    @Test
    void packageListsThatCannotBeUpdatedMayBeGoodEnough() throws IOException {
        play(programs.resolve("unzip"), "");
        Path apt = playInstallation("echo 'E: Temporary failure resolving deb.debian.org' >&2; exit 100");

        Ended ended = build();

        assertThat(ended.exitCode()).as(ended.text()).isZero();
        assertThat(ended.text()).contains("Temporary failure resolving", "going on with those there are");
        assertThat(calls(apt)).hasSize(2);
    }

    /** Maven cannot be downloaded, and is among the packages that root can install. */
    private Path playInstallation(String update) throws IOException {
        play(checkout.resolve("mvnw"), "exit 1");
        play(programs.resolve("id"), "echo 0");
        Path apt = programs.resolve("apt-get");
        play(apt, """
                for last; do :; done
                case $last in
                  update) %s ;;
                  maven) printf '#!/bin/sh\\necho Apache Maven 3.9.9\\n' >mvn && chmod +x mvn ;;
                  unzip) touch unzip && chmod +x unzip ;;
                esac
                """.formatted(update));
        return apt;
    }

    @Test
    void aCheckoutThatCannotBeWrittenToIsNamedWithWhatToDo() throws IOException {
        Path target = Files.createFile(checkout.resolve("target"));

        build().assertFailed(ExitCodes.UNAVAILABLE, "mkdir:", target.toString(), "SIDEWARP_BUILD=never");

        Files.delete(target);
        play(checkout.resolve("mvnw"), "");
        play(programs.resolve("unzip"), "");
        play(programs.resolve("mktemp"), "echo 'mktemp: Read-only file system' >&2; exit 1");
        build().assertFailed(ExitCodes.UNAVAILABLE, "mktemp: Read-only file system", "SIDEWARP_BUILD=never");
    }

    @Test
    void testsAreSkippedWhoseApiServerCannotBeMade() throws IOException {
        playKubernetes("exit 69");

        Ended ended = command("test-scale");

        assertThat(ended.exitCode()).as(ended.text()).isZero();
        assertThat(ended.text()).contains("the tests against a real API server will be skipped");
        assertThat(calls(checkout.resolve("mvnw")).getLast()).contains("verify");
    }

    @Test
    void aSignalEndsTheCommandWhileTheApiServerIsMade() throws IOException {
        playKubernetes("exit 130");

        command("test-scale").assertFailed(ExitCodes.INTERRUPTED, "making kube-apiserver");

        assertThat(calls(checkout.resolve("mvnw"))).isEmpty();
    }

    private void playKubernetes(String script) throws IOException {
        play(checkout.resolve("mvnw"), "");
        play(programs.resolve("unzip"), "");
        play(Files.createDirectories(checkout.resolve("operator/testing/kube")).resolve("build"), script);
    }

    @Test
    void theCacheOfTheSidecarIsMadeAgainForAnotherJvmAndWhenItIsMissing() throws IOException {
        playPackaged();
        Path cache = checkout.resolve("sidecar/service/target/sidecar.aot");
        Path train = checkout.resolve("sidecar/train");
        play(train, "touch " + cache);

        command("sidecar", "-version");
        command("sidecar", "-version");
        assertThat(calls(train)).hasSize(1);

        Map<String, String> later = new HashMap<>(environment());
        later.put("JAVA_HOME", playJdk().toString());
        run(later, "./sidewarp", "sidecar", "-version");
        assertThat(calls(train)).hasSize(2);

        Files.delete(cache);
        Ended ended = run(later, "./sidewarp", "sidecar", "-version");
        assertThat(calls(train)).hasSize(3);
        assertThat(ended.exitCode()).as(ended.text()).isZero();
    }

    @Test
    void aJvmThatCannotMakeTheCacheIsAskedOnce() throws IOException {
        playPackaged();
        Path train = checkout.resolve("sidecar/train");
        play(train, "exit 1");

        command("sidecar", "-version");
        Ended ended = command("sidecar", "-version");

        assertThat(calls(train)).hasSize(1);
        assertThat(ended.exitCode()).as(ended.text()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"build", "fuzz", "test-scale"})
    void whatRunsOrNeedsMavenWaitsForOthersThatDo(String command) throws IOException {
        playPackaged();
        playKubernetes("");
        Path lock = checkout.resolve("target/sidewarp-build.lock");
        try (OwnedProcess other = OwnedProcess.start(
                        "other", List.of("flock", lock.toString(), "sh", "-c", "echo building; read end"));
                OwnedProcess script = startBehind(other, command)) {
            script.awaitLine(line -> line.contains("waiting for another ./sidewarp"));
            assertThat(calls(checkout.resolve("mvnw"))).noneMatch(call -> call.contains(" -B "));

            other.say("");
            int exitCode = script.awaitExit();

            // There is no engine to be fuzzed.
            assertThat(exitCode).as(script.text()).isEqualTo(command.equals("fuzz") ? 1 : 0);
        }
    }

    private OwnedProcess startBehind(OwnedProcess other, String command) {
        other.awaitLine("building"::equals);
        return OwnedProcess.start("script", List.of("./sidewarp", command), environment(), checkout);
    }

    /** Everything is packaged, and newer than its sources. */
    private void playPackaged() throws IOException {
        for (String source : List.of(
                "pom.xml",
                ".mvn/maven.config",
                "common/pom.xml",
                "proto/pom.xml",
                "clients/java/pom.xml",
                "e2e-tests/pom.xml")) {
            Files.createDirectories(checkout.resolve(source).getParent());
            Files.createFile(checkout.resolve(source));
        }
        Path service = Files.createDirectories(checkout.resolve("sidecar/service/target/quarkus-app"));
        Files.createFile(service.resolve("quarkus-run.jar"));
        Path cli = Files.createDirectories(checkout.resolve("sidecar/cli/target"));
        Files.createFile(cli.resolve("sidewarp-cli.jar"));
        play(checkout.resolve("sidecar/class-path"), "");
        Path target = Files.createDirectories(checkout.resolve("target"));
        Files.createFile(target.resolve("sidewarp-programs.stamp"));
        Files.setLastModifiedTime(
                target.resolve("sidewarp-programs.stamp"),
                FileTime.from(Instant.now().plus(1, ChronoUnit.HOURS)));
    }

    /** The JDK of the tests as another version of it. */
    private Path playJdk() throws IOException {
        Path jdk = Files.createDirectory(directory.resolve("jdk"));
        Path real = Path.of(System.getProperty("java.home"));
        Files.createSymbolicLink(jdk.resolve("bin"), real.resolve("bin"));
        Files.writeString(jdk.resolve("release"), Files.readString(real.resolve("release")) + "LATER=1\n");
        return jdk;
    }

    @ParameterizedTest
    @ValueSource(strings = {"a:b", "[a]", "a\nb"})
    void aCheckoutWhereJavaCannotRunIsToldOf(String name) throws IOException {
        Path moved = Files.createDirectory(directory.resolve(name));
        Programs.copyScript(moved);

        run(environment(), moved.resolve("sidewarp").toString(), "show")
                .assertFailed(ExitCodes.UNAVAILABLE, name, "another directory");
    }

    @Test
    void withoutALocaleJavaHasThatOfUtf8() throws IOException {
        playPackaged();
        Path bin = Files.createDirectories(directory.resolve("later/bin"));
        Files.writeString(bin.resolveSibling("release"), "JAVA_VERSION=\"25\"\n");
        play(bin.resolve("javac"), "");
        play(bin.resolve("java"), "echo \"<$LC_ALL>\"");
        Map<String, String> environment = new HashMap<>(environment());
        environment.put("JAVA_HOME", bin.getParent().toString());
        for (String name : List.of("LANG", "LC_ALL", "LC_CTYPE")) {
            environment.put(name, "");
        }

        assertThat(run(environment, "./sidewarp", "show").output()).containsExactly("<C.UTF-8>");

        environment.put("LANG", "C.UTF-8");
        assertThat(run(environment, "./sidewarp", "show").output()).containsExactly("<>");
    }

    @Test
    void aPlaceWhereTheTranscriptCannotGoIsRefusedFirst() {
        Ended ended = command("test-cluster", "none/such/file");

        assertThat(ended.exitCode()).as(ended.text()).isEqualTo(ExitCodes.UNAVAILABLE);
        assertThat(ended.output().getLast()).contains("the transcript cannot be put there");
    }

    @Test
    void programsThatOnlyRootHasOnThePathAreFound() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/usr/sbin/depmod")), "kmod is not installed");
        play(checkout.resolve("mvnw"), "");
        play(programs.resolve("id"), "echo 1000");
        for (String tool : List.of("iperf3", "tshark", "dumpcap", "node", "npm", "unzip")) {
            play(programs.resolve(tool), "");
        }
        Map<String, String> environment = new HashMap<>(environment());
        environment.put("PATH", programs + ":/usr/bin:/bin");

        Ended ended = run(environment, "./sidewarp", "test-siw");

        assertThat(ended.exitCode()).as(ended.text()).isZero();
        assertThat(ended.text()).doesNotContain("depmod");
    }

    @ParameterizedTest
    @ValueSource(strings = {"bench", "images"})
    void helpNeedsNoToolsThatTheCommandNeeds(String command) {
        Ended ended = run(
                Map.of(
                        "PATH",
                        path(),
                        "JAVA_HOME",
                        System.getProperty("java.home"),
                        "SIDEWARP_BUILD",
                        "never",
                        "XDG_CACHE_HOME",
                        directory.toString()),
                Programs.root().resolve("sidewarp").toString(),
                command,
                "--help");

        assertThat(ended.exitCode()).as(ended.text()).isZero();
        assertThat(ended.text()).contains("Usage: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"images/packages", "operator/testing/kube/build"})
    void scriptsThatKeepWhatTheyDownloadNeedNoHome(String script) {
        Ended ended = run(
                Map.of("XDG_CACHE_HOME", "", "KUBEBUILDER_ASSETS", ""),
                "env",
                "-u",
                "HOME",
                Programs.root().resolve(script).toString(),
                "--find");

        assertThat(ended.exitCode()).as(ended.text()).isIn(0, ExitCodes.UNAVAILABLE, 64);
        assertThat(ended.text()).doesNotContain("HOME");
    }
}
