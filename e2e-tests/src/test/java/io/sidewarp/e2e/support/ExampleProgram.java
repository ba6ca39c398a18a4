// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Starts programs of {@code examples} from their sources, as its README does. */
public final class ExampleProgram {

    private static final Path EXAMPLES = Programs.root().resolve("examples");
    private static final Set<String> READY = new HashSet<>();

    private ExampleProgram() {}

    /**
     * Starts a program beside a sidecar. Ends the test as skipped where the tools of its language are missing.
     *
     * @param file path in the directory of examples
     */
    public static OwnedProcess start(String file, SidecarProcess sidecar, String... arguments) {
        String language = file.substring(file.lastIndexOf('.') + 1);
        prepare(language);
        List<String> command = new ArrayList<>();
        switch (language) {
            case "java" -> {
                command.add(Programs.java());
                command.addAll(Programs.jvmFlags());
                command.addAll(List.of(
                        "-Xmx128m",
                        "-cp",
                        Programs.cliJar().resolveSibling("lib").resolve("*").toString()));
            }
            case "py" -> command.add(ClientPackages.PYTHON);
            case "js" -> command.add("node");
            default -> throw new IllegalArgumentException(file);
        }
        command.add(file);
        command.addAll(List.of(arguments));
        Map<String, String> environment = new HashMap<>();
        environment.put("SIDEWARP_API", sidecar.target());
        environment.put("SIDEWARP_VOLUME", sidecar.volume().toString());
        environment.put(
                "PYTHONPATH", Programs.root().resolve("clients/python/src").toString());
        environment.put("PYTHONDONTWRITEBYTECODE", "1");
        String name = "example-" + Path.of(file).getFileName();
        return OwnedProcess.start(name, command, environment, EXAMPLES);
    }

    /** Makes the client of a language ready, once. */
    private static void prepare(String language) {
        if (READY.contains(language)) {
            return;
        }
        if (language.equals("py")) {
            ClientPackages.needModule("numpy", "python3-numpy");
            ClientPackages.generatePython();
        } else if (language.equals("js")) {
            ClientPackages.buildJavaScript();
            ClientPackages.run("npm-install", Programs.unbuilt(), EXAMPLES, "npm", "install");
        }
        READY.add(language);
    }
}
