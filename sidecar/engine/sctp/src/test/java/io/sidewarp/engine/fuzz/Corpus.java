// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * Inputs of a target that are worth keeping, because they reach new code or once found an error. In the repository,
 * each input is a line of hexadecimal digits in `src/test/resources/fuzz/TARGET.txt`. A fuzzer needs a file for each
 * input.
 */
final class Corpus {

    private static final String COMMENT = "#";

    private Corpus() {}

    /** The file in the repository, or where its copy lies among the test classes. */
    static Path file(Path resources, FuzzTarget target) {
        return resources.resolve("fuzz").resolve(target + ".txt");
    }

    static List<byte[]> read(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> !line.isBlank() && !line.startsWith(COMMENT))
                    .map(line -> HexFormat.of().parseHex(line))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes each input to a file of its own. */
    static void unpack(List<byte[]> inputs, Path directory) throws IOException {
        Files.createDirectories(directory);
        for (byte[] input : inputs) {
            Files.write(directory.resolve(name(input)), input);
        }
    }

    /** Puts what a directory holds into one file, shortest first, behind the comment lines that the file has. */
    static void pack(Path directory, Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        if (Files.exists(file)) {
            Files.readAllLines(file).stream()
                    .filter(line -> line.startsWith(COMMENT))
                    .forEach(lines::add);
        }
        try (Stream<Path> files = Files.list(directory)) {
            files.map(Corpus::hex)
                    .sorted((one, other) -> one.length() == other.length()
                            ? one.compareTo(other)
                            : Integer.compare(one.length(), other.length()))
                    .forEach(lines::add);
        }
        Files.write(file, lines);
    }

    private static String hex(Path input) {
        try {
            return HexFormat.of().formatHex(Files.readAllBytes(input));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String name(byte[] input) {
        try {
            return "%040x"
                    .formatted(
                            new BigInteger(1, MessageDigest.getInstance("SHA-1").digest(input)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
