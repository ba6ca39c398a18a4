// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumMap;
import java.util.Map;

/**
 * All measured parts, as stored in a file.
 *
 * @param version version of the file's format
 * @param parts results by part
 */
public record BenchResults(int version, Map<Part, PartResult> parts) {

    private static final int VERSION = 2;

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    public static BenchResults empty() {
        return new BenchResults(VERSION, Map.of());
    }

    /** Returns the results with a part, which replaces an earlier result of that part. */
    public BenchResults with(Part part, PartResult result) {
        Map<Part, PartResult> changed = new EnumMap<>(Part.class);
        changed.putAll(parts);
        changed.put(part, result);
        return new BenchResults(VERSION, changed);
    }

    /** Reads a file, or returns no results if it does not exist. */
    public static BenchResults read(Path file) {
        if (!Files.exists(file)) {
            return empty();
        }
        try {
            BenchResults results = JSON.readValue(file.toFile(), BenchResults.class);
            if (results.version() != VERSION) {
                throw new Failure(
                        ExitCode.NO_INPUT,
                        file + " has version " + results.version() + ", not " + VERSION + ": remove it");
            }
            return results;
        } catch (IOException e) {
            throw new Failure(ExitCode.NO_INPUT, file + " does not hold results of a benchmark: " + e.getMessage(), e);
        }
    }

    /** Writes all results to a file. If that fails, or this process ends meanwhile, the file stays unchanged. */
    public void write(Path file) {
        Path written = file.resolveSibling(file.getFileName() + ".new");
        try {
            Path directory = file.toAbsolutePath().getParent();
            if (directory != null) {
                Files.createDirectories(directory);
            }
            Files.writeString(written, JSON.writeValueAsString(this) + "\n");
            Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot write " + file + ": " + e.getMessage(), e);
        }
    }
}
