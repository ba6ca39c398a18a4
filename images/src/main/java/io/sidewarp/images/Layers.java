// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.FileEntriesLayer;
import com.google.cloud.tools.jib.api.buildplan.FilePermissions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Makes the layers of an image. Layers that change least come first:
 *
 * <ol>
 *   <li>operating system, shared by all images
 *   <li>Java runtime, shared by all images
 *   <li>RDMA libraries, in the sidecar's image only
 *   <li>libraries of the program
 *   <li>archive of the program's classes, except in the controller's image
 *   <li>the program itself, and in the sidecar's image the verbs library
 * </ol>
 *
 * <p>All files have one time and belong to root; only the sidecar's {@code /run/sidewarp} belongs to its user. Of a
 * file's mode only the executable bit counts, so that the builder's umask has no effect.
 */
final class Layers {
    /** Beginning of the names of Sidewarp's own jars among the jars that Quarkus packaged. */
    private static final String OWN_JARS = "io.sidewarp.";

    private static final FilePermissions EXECUTABLE = FilePermissions.fromOctalString("755");
    private static final FilePermissions READABLE = FilePermissions.fromOctalString("644");
    private static final FilePermissions WRITABLE_FOR_ALL = FilePermissions.fromOctalString("777");

    private final Inputs inputs;

    Layers(Inputs inputs) {
        this.inputs = inputs;
    }

    List<FileEntriesLayer> of(Program program) {
        try {
            List<FileEntriesLayer> layers = new ArrayList<>(List.of(operatingSystem(), runtime()));
            if (program == Program.SIDECAR) {
                layers.add(tree("rdma", inputs.packages().resolve("rdma"), "/"));
            }
            layers.add(libraries(program));
            ProgramClasses.of(program)
                    .ifPresent(classes -> layers.add(FileEntriesLayer.builder()
                            .setName("classes")
                            .addEntry(inputs.classes(program), AbsoluteUnixPath.get(classes.archive()), READABLE)
                            .build()));
            layers.add(application(program));
            return layers;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the inputs of image " + program.imageName(), e);
        }
    }

    private FileEntriesLayer operatingSystem() throws IOException {
        FileEntriesLayer.Builder layer = FileEntriesLayer.builder().setName("operating system");
        addTree(layer, inputs.packages().resolve("base"), "/", file -> true);
        addTree(layer, inputs.ownRoot(), "/", file -> true);
        layer.addEntry(emptyDirectory(), AbsoluteUnixPath.get("/tmp"), WRITABLE_FOR_ALL);
        return layer.build();
    }

    private FileEntriesLayer runtime() throws IOException {
        return tree("java", inputs.runtime(), Program.JAVA_HOME);
    }

    private FileEntriesLayer libraries(Program program) throws IOException {
        FileEntriesLayer.Builder layer = FileEntriesLayer.builder().setName("libraries");
        addTree(layer, program.packaged(inputs.root()), Program.HOME, Layers::isForeignJar);
        if (program == Program.SIDECAR) {
            SidecarCommand command = new SidecarCommand(inputs);
            command.libraries().forEach((path, jar) -> layer.addEntry(jar, AbsoluteUnixPath.get(path), READABLE));
        }
        return layer.build();
    }

    private FileEntriesLayer application(Program program) throws IOException {
        FileEntriesLayer.Builder layer = FileEntriesLayer.builder().setName("application");
        addTree(layer, program.packaged(inputs.root()), Program.HOME, file -> !isForeignJar(file));
        Optional<ProgramClasses> classes = ProgramClasses.of(program);
        if (classes.isPresent()) {
            Path options = inputs.work().resolve(program.imageName() + ".options");
            classes.get().writeOptions(program.packaged(inputs.root()), options);
            layer.addEntry(options, AbsoluteUnixPath.get(classes.get().options()), READABLE);
        }
        if (program == Program.SIDECAR) {
            new SidecarCommand(inputs).addTo(layer);
            addTree(layer, inputs.verbs(), Program.VERBS, file -> true);
            layer.addEntry(
                    emptyDirectory(),
                    AbsoluteUnixPath.get("/run/sidewarp"),
                    EXECUTABLE,
                    FileEntriesLayer.DEFAULT_MODIFICATION_TIME,
                    program.user());
        }
        return layer.build();
    }

    /** Returns whether a file is a library of others. The path is relative to the directory that Quarkus packaged. */
    private static boolean isForeignJar(Path file) {
        return file.startsWith("lib") && !file.getFileName().toString().startsWith(OWN_JARS);
    }

    private static FileEntriesLayer tree(String name, Path source, String target) throws IOException {
        FileEntriesLayer.Builder layer = FileEntriesLayer.builder().setName(name);
        addTree(layer, source, target, file -> true);
        return layer.build();
    }

    private static void addTree(FileEntriesLayer.Builder layer, Path source, String target, Predicate<Path> wanted)
            throws IOException {
        try (Stream<Path> paths = Files.walk(source)) {
            // A layer of Jib has no links.
            for (Path file : paths.filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
                    .sorted()
                    .toList()) {
                Path relative = source.relativize(file);
                if (wanted.test(relative)) {
                    layer.addEntry(
                            file,
                            AbsoluteUnixPath.get(target).resolve(relative.toString()),
                            Files.isExecutable(file) ? EXECUTABLE : READABLE);
                }
            }
        }
    }

    private Path emptyDirectory() throws IOException {
        return Files.createDirectories(inputs.work().resolve("empty"));
    }
}
