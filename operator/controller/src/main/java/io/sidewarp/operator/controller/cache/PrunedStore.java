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
 * Store of an informer that keeps only those parts of each object that are read. Images and managed fields of thousands
 * of nodes would otherwise take most of the controller's memory.
 *
 * <p>The client's contract of stores is that a store keeps full state. So readers must not ask for members that are
 * pruned.
 */
public class PrunedStore<T extends HasMetadata> implements ItemStore<T> {
    /**
     * Requested number of objects per page of a list. Larger pages would cause a peak of memory. The API server may
     * exceed the number.
     */
    public static final long LIST_LIMIT = 200;

    private final Map<String, T> objects = new ConcurrentHashMap<>();
    private final UnaryOperator<T> prune;

    /**
     * @param prune removes the parts of an object that are not kept; must keep its identity; may change and return its
     * argument
     */
    protected PrunedStore(UnaryOperator<T> prune) {
        this.prune = prune;
    }

    /** Creates a store that keeps everything but the managed fields. */
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
