// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import io.sidewarp.images.ImageBuilder.Image;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code ./sidewarp images}, which starts this class after everything is packaged. */
@Command(
        name = "./sidewarp images",
        description = "Makes the container images of the sidecar, the controller and the node agent.",
        sortOptions = false)
public final class ImagesCommand implements Callable<Integer> {
    private static final int EX_UNAVAILABLE = 69;
    private static final double MEGABYTE = 1e6;
    private static final int ATTEMPTS = 10;

    @Option(
            names = "--tar",
            paramLabel = "DIR",
            description = "Write a file for each image there. Default: target/images, if nothing is pushed.")
    private @Nullable Path directory;

    @Option(names = "--push", paramLabel = "REGISTRY", description = "Push them: HOST[:PORT][/PATH].")
    private @Nullable String registry;

    @Option(names = "--insecure", description = "The registry may be without TLS, or have an untrusted certificate.")
    private boolean insecure;

    @Option(names = "--help", usageHelp = true, description = "Show this text.")
    @SuppressWarnings("UnusedVariable") // Picocli reads it.
    private boolean help;

    @Option(names = "--root", hidden = true, required = true)
    private @Nullable Path root;

    @Option(names = "--packages", hidden = true, required = true)
    private @Nullable Path packages;

    /** Runs the command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        CommandLine command = new CommandLine(new ImagesCommand());
        command.setExecutionExceptionHandler((failure, line, result) -> {
            if (JavaProgram.isEnding()) {
                // A signal explains the failure and determines the exit code.
                return EX_UNAVAILABLE;
            }
            if (failure instanceof ImageException) {
                line.getErr().println("sidewarp: " + failure.getMessage());
                return EX_UNAVAILABLE;
            }
            throw failure;
        });
        System.exit(command.execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        Path repository = required(root);
        String version = Optional.ofNullable(ImagesCommand.class.getPackage().getImplementationVersion())
                .orElseThrow(() -> new ImageException("run this from its jar: ./sidewarp images"));
        Path target = Files.createDirectories(repository.resolve("target"));
        Path work = Files.createTempDirectory(target, "images-");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> abandon(work)));
        try {
            Inputs inputs = new Inputs(repository, required(packages), work.resolve("java"), version, work);
            inputs.check();
            VerbsLibrary.compile(inputs);
            JavaRuntime.link(inputs.runtime());
            for (Program program : Program.values()) {
                ProgramClasses.of(program).ifPresent(classes -> classes.make(inputs));
            }
            ImageBuilder builder = new ImageBuilder(inputs);
            if (registry == null || directory != null) {
                save(builder, Optional.ofNullable(directory).orElse(target.resolve("images")));
            }
            if (registry != null) {
                push(builder, registry);
            }
        } finally {
            delete(work);
        }
        return 0;
    }

    private static void save(ImageBuilder builder, Path directory) throws IOException {
        Files.createDirectories(directory);
        for (Program program : Program.values()) {
            Path file = directory.resolve(program.imageName() + ".tar");
            Image image = builder.save(program, file);
            print(image, String.format(Locale.ROOT, "%.1f MB in %s", Files.size(file) / MEGABYTE, file));
        }
    }

    private void push(ImageBuilder builder, String registry) {
        for (Program program : Program.values()) {
            print(builder.push(program, registry, insecure), "pushed");
        }
    }

    private static void print(Image image, String where) {
        System.out.printf("%s %s%n  digest %s%n  id     %s%n", image.name(), where, image.digest(), image.id());
    }

    private static Path required(@Nullable Path path) {
        return Optional.ofNullable(path).orElseThrow().toAbsolutePath();
    }

    /** Cleans up after a signal: ends child processes and deletes the work directory. */
    private static void abandon(Path work) {
        JavaProgram.endAll();
        try {
            delete(work);
        } catch (IOException | UncheckedIOException e) {
            System.err.println("sidewarp: " + work + " is left behind: " + e.getMessage());
        }
    }

    /**
     * Deletes a directory that another process may still write to. Synchronized, since concurrent deletions would
     * disturb each other.
     */
    private static synchronized void delete(Path directory) throws IOException {
        for (int attempt = 1; attempt <= ATTEMPTS && Files.exists(directory); attempt++) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            } catch (DirectoryNotEmptyException | UncheckedIOException e) {
                // A file came, or a directory went, in the meantime.
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }
}
