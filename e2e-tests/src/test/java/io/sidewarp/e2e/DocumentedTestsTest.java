// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks that the tests exist which pages name as proofs. A page may write {@code #method} after another method of the
 * same class.
 */
class DocumentedTestsTest {

    private static final Pattern NAMED = Pattern.compile("`(?=[#\\w])(\\w+(?:Test|IT))?(?:#(\\w+))?`");

    /** The sources of test classes by their simple names, which several may have. */
    private static Map<String, List<String>> sources() throws IOException {
        Map<String, List<String>> sources = new HashMap<>();
        for (Path directory : directories()) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file :
                        files.filter(file -> file.toString().endsWith(".java")).toList()) {
                    String name = file.getFileName().toString().replace(".java", "");
                    sources.computeIfAbsent(name, ignored -> new ArrayList<>()).add(Files.readString(file));
                }
            }
        }
        return sources;
    }

    /**
     * Returns the test directories of the modules, which are up to three levels deep. Skips build output, which other
     * builds may change meanwhile.
     */
    private static List<Path> directories() throws IOException {
        List<Path> modules = new ArrayList<>();
        for (Path module : directoriesOf(Programs.root())) {
            modules.add(module);
            for (Path nested : directoriesOf(module)) {
                modules.add(nested);
                modules.addAll(directoriesOf(nested));
            }
        }
        return modules.stream()
                .map(module -> module.resolve("src/test/java"))
                .filter(Files::isDirectory)
                .toList();
    }

    private static List<Path> directoriesOf(Path parent) throws IOException {
        try (Stream<Path> children = Files.list(parent)) {
            return children.filter(Files::isDirectory).toList();
        }
    }

    /** Returns whether a class has or inherits a method. */
    private static boolean has(Map<String, List<String>> sources, String name, String method) {
        return sources.getOrDefault(name, List.of()).stream()
                .anyMatch(source -> source.contains(" " + method + "(")
                        || Pattern.compile("class " + name + "\\b[^{]* extends (\\w+)")
                                .matcher(source)
                                .results()
                                .anyMatch(heir -> has(sources, heir.group(1), method)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"security-tests.md", "interoperability.md", "fuzzing.md"})
    void theTestsThatAPageNamesAreThere(String page) throws IOException {
        Map<String, List<String>> sources = sources();
        List<String> missing = new ArrayList<>();
        String name = "";
        for (MatchResult named : NAMED.matcher(
                        Files.readString(Programs.root().resolve("docs").resolve(page)))
                .results()
                .toList()) {
            name = named.group(1) != null ? named.group(1) : name;
            boolean there = named.group(2) == null ? sources.containsKey(name) : has(sources, name, named.group(2));
            if (!there) {
                missing.add(name + " in " + named.group());
            }
        }
        assertThat(name).as("a page without tests").isNotEmpty();
        assertThat(missing).isEmpty();
    }
}
