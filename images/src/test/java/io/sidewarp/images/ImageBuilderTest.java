// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.cloud.tools.jib.api.buildplan.FileEntriesLayer;
import com.google.cloud.tools.jib.api.buildplan.FileEntry;
import io.sidewarp.images.ImageBuilder.Image;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ImageBuilderTest {
    @TempDir
    private Path directory;

    private Inputs inputs;

    @BeforeEach
    void createInputs() throws IOException {
        inputs = Fixture.create(
                directory.resolve("one"), FileTime.from(Instant.parse("2026-01-01T00:00:00Z")), "rw-r--r--");
    }

    @ParameterizedTest
    @EnumSource
    void dependsOnNeitherTimeNorPlaceNorUmask(Program program) throws IOException {
        Inputs others = Fixture.create(
                directory.resolve("a/second/one"), FileTime.from(Instant.parse("2031-05-06T07:08:09Z")), "rw-------");
        Path first = directory.resolve("first.tar");
        Path second = directory.resolve("second.tar");

        Image one = new ImageBuilder(inputs).save(program, first);
        Image other = new ImageBuilder(others).save(program, second);

        assertThat(other).isEqualTo(one);
        assertThat(Files.mismatch(first, second)).isEqualTo(-1);
        assertThat(one.name()).isEqualTo("sidewarp/" + program.imageName() + ":1.2.3");
    }

    @Test
    void hasAnotherDigestWhenOneOctetDiffers() throws IOException {
        Image one = new ImageBuilder(inputs).save(Program.CONTROLLER, directory.resolve("first.tar"));
        Files.writeString(inputs.packages().resolve("base/lib/x86_64-linux-gnu/libc.so.6"), "7");

        Image other = new ImageBuilder(inputs).save(Program.CONTROLLER, directory.resolve("second.tar"));

        assertThat(other.digest()).isNotEqualTo(one.digest());
        assertThat(other.id()).isNotEqualTo(one.id());
    }

    @Test
    void isPushedWithTheDigestThatIsTold() throws IOException {
        try (Registry registry = new Registry(directory)) {
            Image saved = new ImageBuilder(inputs).save(Program.SIDECAR, directory.resolve("sidecar.tar"));

            Image pushed = new ImageBuilder(inputs).push(Program.SIDECAR, registry.address() + "/team", true);

            assertThat(pushed.name()).isEqualTo(registry.address() + "/team/sidewarp/sidecar:1.2.3");
            assertThat(pushed.digest()).isEqualTo(saved.digest());
            assertThat(registry.manifests()).isEqualTo(Map.of("team/sidewarp/sidecar/manifests/1.2.3", saved.digest()));
            assertThat(registry.blobs()).hasSize(7).contains(saved.id());
        }
    }

    @Test
    void saysWhereItCannotPush() {
        assertThatThrownBy(() -> new ImageBuilder(inputs).push(Program.SIDECAR, "no registry", false))
                .isInstanceOf(ImageException.class)
                .hasMessageContaining("HOST[:PORT][/PATH]");
    }

    @Test
    void saysWhatIsNotPackaged() throws IOException {
        Path jar = Program.NODE_AGENT.packaged(inputs.root()).resolve("quarkus-run.jar");
        inputs.check();
        Files.delete(jar);

        assertThatThrownBy(inputs::check)
                .isInstanceOf(ImageException.class)
                .hasMessageContaining(jar.toString())
                .hasMessageContaining("./sidewarp images");
    }

    @Test
    void sharesOperatingSystemAndRuntimeAndSeparatesLibrariesFromTheProgram() {
        Layers layers = new Layers(inputs);

        assertThat(names(layers.of(Program.SIDECAR)))
                .containsExactly("operating system", "java", "rdma", "libraries", "classes", "application");
        List<FileEntriesLayer> controller = layers.of(Program.CONTROLLER);
        assertThat(names(controller)).containsExactly("operating system", "java", "libraries", "application");
        assertThat(controller.subList(0, 2))
                .map(FileEntriesLayer::getEntries)
                .isEqualTo(layers.of(Program.SIDECAR).subList(0, 2).stream()
                        .map(FileEntriesLayer::getEntries)
                        .toList());
        assertThat(paths(controller.get(2))).containsExactly("/opt/sidewarp/app/lib/boot/org.foreign-1.jar");
        assertThat(paths(controller.get(3)))
                .containsExactly(
                        "/opt/sidewarp/app/lib/main/io.sidewarp.own-1.jar", "/opt/sidewarp/app/quarkus-run.jar");
    }

    /** The installer makes the links, as the layers of Jib have none. */
    @Test
    void theVerbsLibraryIsInTheSidecarsImageOnceAndInNoOther() {
        Layers layers = new Layers(inputs);

        assertThat(paths(layers.of(Program.SIDECAR).getLast()))
                .filteredOn(path -> path.startsWith("/opt/sidewarp/verbs"))
                .containsExactly("/opt/sidewarp/verbs/libsidewarp-verbs.so");
        assertThat(layers.of(Program.CONTROLLER))
                .allSatisfy(layer -> assertThat(paths(layer)).noneMatch(path -> path.contains("verbs")));
    }

    @Test
    void theCommandSharesTheJarsThatTheSidecarHas() throws IOException {
        assertThat(new SidecarCommand(inputs).libraries()).containsOnlyKeys("/opt/sidewarp/bin/lib/picocli-4.jar");
    }

    @Test
    void onlyExecutablesAreExecutable() {
        List<FileEntry> files = new Layers(inputs)
                .of(Program.SIDECAR).stream()
                        .flatMap(layer -> layer.getEntries().stream())
                        .filter(file -> Files.isRegularFile(file.getSourceFile()))
                        .toList();

        assertThat(files)
                .filteredOn(file -> !file.getPermissions().toOctalString().equals("644"))
                .map(file ->
                        file.getExtractionPath() + " " + file.getPermissions().toOctalString())
                .containsExactly(
                        "/opt/java/bin/java 755",
                        "/opt/sidewarp/bin/sidewarp 755",
                        "/opt/sidewarp/bin/sidewarp-verbs 755");
    }

    private static List<String> names(List<FileEntriesLayer> layers) {
        return layers.stream().map(FileEntriesLayer::getName).toList();
    }

    private static List<String> paths(FileEntriesLayer layer) {
        return layer.getEntries().stream()
                .map(entry -> entry.getExtractionPath().toString())
                .toList();
    }
}
