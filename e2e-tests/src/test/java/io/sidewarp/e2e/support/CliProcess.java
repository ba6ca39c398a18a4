// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The packaged `sidewarp` command, told by the environment which sidecar to use. */
public final class CliProcess {

    private CliProcess() {}

    public static OwnedProcess start(SidecarProcess sidecar, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Programs.java());
        command.addAll(Programs.jvmFlags());
        command.addAll(List.of("-jar", Programs.cliJar().toString()));
        command.addAll(List.of(arguments));
        Map<String, String> environment = Map.of(
                "SIDEWARP_API",
                sidecar.target(),
                "SIDEWARP_VOLUME",
                sidecar.volume().toString());
        return OwnedProcess.start("cli-" + arguments[0], command, environment, Programs.output());
    }
}
