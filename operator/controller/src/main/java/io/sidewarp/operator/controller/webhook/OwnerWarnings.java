// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.sidewarp.operator.api.events.EventRecorder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Writes warnings about pods as events of the controllers that create the pods, such as Jobs. The API server shows the
 * warnings of an admission to the controller alone, and no author of a Job reads the controller's log.
 */
final class OwnerWarnings implements AutoCloseable {
    private static final String REASON = "SidewarpWarning";
    private static final int REMEMBERED = 1000;
    private static final int WAITING = 100;

    private final EventRecorder events;

    /** Writes the events, since an admission does not wait for them. Events beyond the limit are dropped. */
    private final ExecutorService writer = new ThreadPoolExecutor(
            0,
            1,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(WAITING),
            Thread.ofPlatform().name("warnings").daemon().factory(),
            new ThreadPoolExecutor.DiscardPolicy());

    /** Latest warnings by owner. A controller creates many pods, and tries again and again. */
    private final Map<String, Boolean> told = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > REMEMBERED;
        }
    };

    OwnerWarnings(EventRecorder events) {
        this.events = events;
    }

    /** Records each warning once for the controller that creates a pod, if there is one. */
    void tell(Pod pod, String namespace, List<String> warnings) {
        owner(pod).ifPresent(owner -> {
            for (String warning : warnings) {
                if (isNew(owner.getUid() + " " + warning)) {
                    writer.execute(() -> events.warn(about(owner, namespace), REASON, warning));
                }
            }
        });
    }

    private synchronized boolean isNew(String warning) {
        return told.putIfAbsent(warning, true) == null;
    }

    /** Returns the controller of a pod. The owner of a static pod's mirror is its node, in no namespace. */
    private static Optional<OwnerReference> owner(Pod pod) {
        return Optional.ofNullable(pod.getMetadata()).map(ObjectMeta::getOwnerReferences).orElseGet(List::of).stream()
                .filter(owner -> Boolean.TRUE.equals(owner.getController()) && !"Node".equals(owner.getKind()))
                .findFirst();
    }

    private static GenericKubernetesResource about(OwnerReference owner, String namespace) {
        GenericKubernetesResource about = new GenericKubernetesResource();
        about.setApiVersion(owner.getApiVersion());
        about.setKind(owner.getKind());
        about.setMetadata(new ObjectMetaBuilder()
                .withNamespace(namespace)
                .withName(owner.getName())
                .withUid(owner.getUid())
                .build());
        return about;
    }

    @Override
    public void close() {
        writer.shutdownNow();
    }
}
