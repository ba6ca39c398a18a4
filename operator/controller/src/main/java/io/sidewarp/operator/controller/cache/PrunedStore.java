// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The store of an informer that keeps of each object what its readers read. Thousands of nodes with their images, or with the
 * history of who wrote which member, would be most of the controller's memory.
 *
 * <p>The client's contract of stores is that a store keeps full state: of members that are pruned nobody may ask.
 */
public class PrunedStore<T extends HasMetadata> implements ItemStore<T> {
    /** Objects of one answer to a list request, which the API server may exceed; more at once would be a peak of memory. */
    public static final long LIST_LIMIT = 200;

    private final Map<String, T> objects = new ConcurrentHashMap<>();
    private final UnaryOperator<T> prune;

    /** @param prune leaves of an object what is kept, at least what identifies it; may change and return its argument */
    protected PrunedStore(UnaryOperator<T> prune) {
        this.prune = prune;
    }

    /** Keeps all but the history of who wrote which member. */
    public static <T extends HasMetadata> PrunedStore<T> withoutManagedFields() {
        return new PrunedStore<>(object -> {
            object.getMetadata().setManagedFields(List.of());
            return object;
        });
    }

    @Override
    public String getKey(T object) {
        return Cache.metaNamespaceKeyFunc(object);
    }

    @Override
    public @Nullable T put(String key, T object) {
        return objects.put(key, prune.apply(object));
    }

    @Override
    public @Nullable T remove(String key) {
        return objects.remove(key);
    }

    @Override
    public Stream<String> keySet() {
        return objects.keySet().stream();
    }

    @Override
    public Stream<T> values() {
        return objects.values().stream();
    }

    @Override
    public int size() {
        return objects.size();
    }

    @Override
    public @Nullable T get(String key) {
        return objects.get(key);
    }
}
