// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** Results of the modules of one Maven build, and the names of missing results. */
final class TestRuns {
    /** Dependency of modules that tag their tests and record their results. */
    private static final String TAGS = "<artifactId>sidewarp-conformance</artifactId>";

    private final List<Results.Row> rows = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();

    /**
     * Reads the results of each module that can tag its tests, in the repository at {@code root}. Results from before
     * {@code start}, the beginning of the build, count as missing.
     */
    static TestRuns read(Path root, Instant start) throws IOException {
        TestRuns runs = new TestRuns();
        for (String module : modules(root.resolve("pom.xml"))) {
            Path directory = root.resolve(module);
            if (!hasTags(directory.resolve("pom.xml"))) {
                continue;
            }
            runs.add(module + ": unit tests", directory, "Test.java", "unit.tsv", start);
            runs.add(module + ": integration tests", directory, "IT.java", "integration.tsv", start);
        }
        return runs;
    }

    List<Results.Row> rows() {
        return Collections.unmodifiableList(rows);
    }

    /** Returns the names of test runs that did not run, or only in part. Empty if all tests of all modules ran. */
    List<String> missing() {
        return Collections.unmodifiableList(missing);
    }

    private void add(String what, Path module, String suffix, String name, Instant start) throws IOException {
        Path file = module.resolve("target/conformance").resolve(name);
        if (!hasSources(module.resolve("src/test/java"), suffix)) {
            return;
        }
        if (!Files.exists(file) || Files.getLastModifiedTime(file).toInstant().isBefore(start)) {
            missing.add(what);
            return;
        }
        Results results = Results.read(file);
        if (results.isSelection()) {
            missing.add(what);
        }
        rows.addAll(results.rows());
    }

    private static boolean hasTags(Path pom) throws IOException {
        return Files.readString(pom).contains(TAGS);
    }

    private static boolean hasSources(Path directory, String suffix) throws IOException {
        if (!Files.isDirectory(directory)) {
            return false;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            return files.anyMatch(file -> file.toString().endsWith(suffix));
        }
    }

    private static List<String> modules(Path pom) throws IOException {
        try {
            NodeList nodes = DocumentBuilderFactory.newNSInstance()
                    .newDocumentBuilder()
                    .parse(pom.toFile())
                    .getElementsByTagName("module");
            List<String> modules = new ArrayList<>();
            for (int i = 0; i < nodes.getLength(); i++) {
                modules.add(nodes.item(i).getTextContent().strip());
            }
            return modules;
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException("Cannot read the modules from " + pom, e);
        }
    }
}
