// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Store of an informer that keeps only those parts of each object that are read. Images and managed fields of thousands
 * of nodes would otherwise take most of the controller's memory.
 *
 * <p>The client's contract of stores is that a store keeps full state. So readers must not ask for members that are
 * pruned.
 */
public class PrunedStore<T extends HasMetadata> extends BasicItemStore<T> {
    /**
     * Requested number of objects per page of a list. Larger pages would cause a peak of memory. The API server may
     * exceed the number.
     */
    public static final long LIST_LIMIT = 200;

    private final UnaryOperator<T> prune;

    /**
     * @param prune removes the parts of an object that are not kept; must keep its identity; may change and return its
     * argument
     */
    protected PrunedStore(UnaryOperator<T> prune) {
        super(Cache::metaNamespaceKeyFunc);
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
    public @Nullable T put(String key, T object) {
        return super.put(key, prune.apply(object));
    }
}
