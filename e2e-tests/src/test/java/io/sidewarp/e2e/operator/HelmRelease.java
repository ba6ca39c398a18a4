// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import com.marcnuri.helm.Helm;
import io.sidewarp.e2e.support.Programs;
import java.nio.file.Path;
import java.util.Map;

/** Release of this repository's chart in a cluster. The Helm library does the same as the {@code helm} command. */
final class HelmRelease {
    private static final String NAME = "sidewarp";
    private static final int TIMEOUT_SECONDS = 180;

    private final Path kubeconfig;
    private final String namespace;

    HelmRelease(Path kubeconfig, String namespace) {
        this.kubeconfig = kubeconfig;
        this.namespace = namespace;
    }

    void install(Map<String, Object> values) {
        var command = chart().install()
                .withName(NAME)
                .withNamespace(namespace)
                .createNamespace()
                .withKubeConfig(kubeconfig)
                .withTimeout(TIMEOUT_SECONDS);
        values.forEach(command::set);
        command.call();
    }

    void upgrade(Map<String, Object> values) {
        var command = chart().upgrade()
                .withName(NAME)
                .withNamespace(namespace)
                .reuseValues()
                .withKubeConfig(kubeconfig)
                .withTimeout(TIMEOUT_SECONDS);
        values.forEach(command::set);
        command.call();
    }

    void uninstall() {
        Helm.uninstall(NAME).withNamespace(namespace).withKubeConfig(kubeconfig).call();
    }

    private static Helm chart() {
        return new Helm(Programs.root().resolve("helm/sidewarp"));
    }
}
