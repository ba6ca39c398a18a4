// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Makes namespaces for one test class, and deletes them after it. */
public final class TestNamespaces implements AutoCloseable {

    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final KubernetesClient client;
    private final String prefix;
    private final List<String> names = new CopyOnWriteArrayList<>();

    TestNamespaces(KubernetesClient client, Class<?> testClass) {
        this.client = client;
        this.prefix = testClass
                .getSimpleName()
                .replaceAll("(?<=[a-z0-9])(?=[A-Z])", "-")
                .toLowerCase(Locale.ROOT);
    }

    /** Creates a namespace and returns its name. */
    public String create() {
        return create(Map.of());
    }

    /** Creates a namespace with labels and returns its name. */
    public String create(Map<String, String> labels) {
        String name = prefix + "-" + NUMBER.incrementAndGet();
        client.namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withLabels(labels)
                        .endMetadata()
                        .build())
                .create();
        names.add(name);
        return name;
    }

    /** Deletes the namespaces; without a controller manager they are only marked as deleted. */
    @Override
    public void close() {
        names.forEach(name -> client.namespaces().withName(name).delete());
        names.clear();
    }
}
