// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import java.util.ArrayList;
import java.util.List;

/** A client of a sidecar in its own JVM: a main class of this module. */
public final class ClientProcess {

    private ClientProcess() {}

    public static OwnedProcess start(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Programs.java());
        command.addAll(Programs.jvmFlags());
        command.addAll(List.of("-Xmx128m", "-cp", Programs.testClassPath(), main.getName()));
        command.addAll(List.of(arguments));
        return OwnedProcess.start("client-" + main.getSimpleName(), command);
    }
}
