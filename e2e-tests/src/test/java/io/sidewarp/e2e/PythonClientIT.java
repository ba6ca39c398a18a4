// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static io.sidewarp.e2e.support.ClientPackages.PYTHON;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.ClientPackages;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Runs the tests of the Python client, which start packaged sidecars themselves, and builds its packages. */
@ExtendWith(Logs.class)
class PythonClientIT {

    private static final Path CLIENT = Programs.root().resolve("clients/python");
    private static final Path BUILT = Programs.output().resolveSibling("python");

    @BeforeAll
    static void generateStubs() {
        ClientPackages.generatePython();
    }

    @Test
    void testsOfTheClientPass() {
        ClientPackages.needModule("pytest", "python3-pytest");
        ClientPackages.needModule("numpy", "python3-numpy");
        Map<String, String> environment = new HashMap<>(Programs.unbuilt());
        environment.put("PYTHONDONTWRITEBYTECODE", "1");
        OwnedProcess tests = run(
                "python-tests", environment, PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "-v", "--durations=5");
        assertThat(tests.output().getLast()).contains("passed");
    }

    @Test
    void wheelAndSourcesAreBuilt() throws IOException {
        ClientPackages.needModule("build", "python3-build");
        ClientPackages.needModule("setuptools", "python3-setuptools");
        ClientPackages.needModule("wheel", "python3-wheel");
        run("python-build", Map.of(), PYTHON, "-m", "build", "--no-isolation", "--outdir", BUILT.toString());

        List<String> names;
        try (Stream<Path> built = Files.list(BUILT)) {
            names = built.map(file -> file.getFileName().toString()).toList();
        }
        assertThat(names).anyMatch(name -> name.endsWith(".tar.gz"));
        String wheel = names.stream()
                .filter(name -> name.endsWith("-py3-none-any.whl"))
                .findAny()
                .orElseThrow();
        // Python imports from a wheel as from a directory.
        Map<String, String> path = Map.of("PYTHONPATH", BUILT.resolve(wheel).toString());
        OwnedProcess imported = run(
                "python-import",
                path,
                PYTHON,
                "-c",
                "import sidewarp, sidewarp.v1.ring_pb2; print(sidewarp.__file__, sidewarp.connect.__name__)");
        assertThat(imported.output().getLast()).contains(wheel).endsWith(" connect");
    }

    private static OwnedProcess run(String name, Map<String, String> environment, String... command) {
        return ClientPackages.run(name, environment, CLIENT, command);
    }
}
