// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionSpec;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.time.Duration;

/** Installs definitions of custom resources in an API server. */
public final class CustomResourceDefinitions {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private CustomResourceDefinitions() {}

    /** Creates or updates a definition, and waits until its resources can be used. */
    public static void install(KubernetesClient client, URL definition) {
        CustomResourceDefinition installed;
        try (InputStream content = definition.openStream()) {
            installed = client.apiextensions()
                    .v1()
                    .customResourceDefinitions()
                    .load(content)
                    .createOr(NonDeletingOperation::update);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + definition, e);
        }
        CustomResourceDefinitionSpec spec = installed.getSpec();
        for (CustomResourceDefinitionVersion version : spec.getVersions()) {
            String path = "/apis/" + spec.getGroup() + "/" + version.getName() + "/"
                    + spec.getNames().getPlural();
            await(path).atMost(LIMIT).ignoreExceptions().until(() -> client.raw(path) != null);
        }
    }
}
