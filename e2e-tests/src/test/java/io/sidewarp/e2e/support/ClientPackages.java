// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Makes the clients in Python and JavaScript ready. Ends a test as skipped where their tools are missing. */
public final class ClientPackages {

    /** Debian's Python, whatever is on the PATH. It has the modules of Debian's packages. */
    public static final String PYTHON = "/usr/bin/python3";

    private static final int OLDEST_NODE = 20;

    private ClientPackages() {}

    /** Generates the stubs of the Python client. */
    public static void generatePython() {
        Tools.need("protoc", "protobuf-compiler");
        Tools.need("grpc_python_plugin", "protobuf-compiler-grpc");
        Tools.needFile("/usr/include/google/protobuf/duration.proto", "libprotobuf-dev");
        needModule("grpc", "python3-grpcio");
        needModule("google/protobuf", "python3-protobuf");
        Path client = Programs.root().resolve("clients/python");
        run("python-generate", Map.of(), client, client.resolve("generate").toString());
    }

    /** Ends the test as skipped when Debian's Python does not have a module. */
    public static void needModule(String module, String debianPackage) {
        Tools.needFile("/usr/lib/python3/dist-packages/" + module, debianPackage);
    }

    /** Downloads what the JavaScript client needs, and builds it. */
    public static void buildJavaScript() {
        Tools.need("node", "nodejs");
        Tools.need("npm", "npm");
        Path client = Programs.root().resolve("clients/javascript");
        String version = run("node-version", Map.of(), client, "node", "--version")
                .output()
                .getFirst();
        assumeThat(Runtime.Version.parse(version.substring(1)).feature())
                .as("The JavaScript client needs Node %d or later; found %s", OLDEST_NODE, version)
                .isGreaterThanOrEqualTo(OLDEST_NODE);
        // Builds the package, too.
        run("npm-ci", Programs.unbuilt(), client, "npm", "ci");
    }

    /** Runs a command that has to succeed. */
    public static OwnedProcess run(String name, Map<String, String> environment, Path directory, String... command) {
        try (OwnedProcess process = OwnedProcess.start(name, List.of(command), environment, directory)) {
            assertThat(process.awaitExit(Patience.LONG_LIMIT))
                    .as(process.text())
                    .isZero();
            return process;
        }
    }
}
