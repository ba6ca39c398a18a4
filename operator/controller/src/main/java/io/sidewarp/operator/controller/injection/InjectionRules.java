// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.CONTAINERS;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.DEFAULT_PROFILE;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.INJECT;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.INJECTED;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.NETWORKS;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.PROFILE;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNICS;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.SHARED_MEMORY;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.SIDECAR_LABEL;
import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.VERBS;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodOS;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.sidewarp.operator.api.v1alpha1.SidecarPlacement;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import io.sidewarp.operator.controller.injection.InjectionDecision.Refuse;
import io.sidewarp.operator.controller.injection.InjectionDecision.Skip;
import io.sidewarp.operator.controller.injection.InjectionDecision.SkipReason;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a pod gets a sidecar, and with which settings. Depends on nothing but its arguments.
 *
 * <p>A pod gets a sidecar when its namespace is labelled or the pod itself is annotated with
 * {@code sidewarp.io/inject: enabled}. A {@code disabled} at either place wins. A pod whose settings make no sense is
 * refused, because it would otherwise run without something that it needs.
 */
public final class InjectionRules {
    /** Name of the default settings, if there is no profile. */
    static final String BUILT_IN_PROFILE = "built-in";

    private static final int MAX_RNICS = 16;

    /**
     * Largest number of containers of a pod, more than any node runs. The additions to each container take memory of
     * the controller.
     */
    private static final int MAX_CONTAINERS = 250;

    /**
     * Annotation of a mirror pod: the API server's copy of a static pod, which the kubelet reads from a file of the
     * node.
     */
    private static final String MIRROR = "kubernetes.io/config.mirror";

    private static final String SYSTEM_LABEL = "kubernetes.io/os";
    private static final String LINUX = "linux";

    /** Valid names of objects. The API server cannot be asked for other names. */
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");

    private static final List<String> DETAILS = List.of(PROFILE, CONTAINERS, RNICS, SHARED_MEMORY, VERBS);

    /** Prefix of all names of annotations and labels that are read or written here. */
    private static final String PREFIX = "sidewarp.io/";

    private static final Set<String> ANNOTATIONS =
            Set.of(INJECT, PROFILE, CONTAINERS, RNICS, SHARED_MEMORY, VERBS, INJECTED);

    private InjectionRules() {}

    /**
     * Decides about one pod.
     *
     * @param pod pod as it was sent; its own namespace and name may be missing
     * @param namespace namespace in which the pod is created
     * @param namespaceLabels labels of the namespace
     * @param facts facts about the cluster
     */
    public static InjectionDecision decide(
            Pod pod, String namespace, Map<String, String> namespaceLabels, InjectionFacts facts) {
        Map<String, String> annotations = annotations(pod);
        if (annotations.containsKey(MIRROR)) {
            return new Skip(SkipReason.MIRROR_POD, List.of());
        }
        try {
            Optional<Boolean> byNamespace =
                    enabled(namespaceLabels.get(INJECT), "the label " + INJECT + " of namespace " + namespace);
            Optional<Boolean> byPod = enabled(annotations.get(INJECT), "the annotation " + INJECT);
            if (byPod.equals(Optional.of(false)) || byNamespace.equals(Optional.of(false))) {
                return new Skip(SkipReason.OPTED_OUT, optOutWarnings(annotations, byPod, namespace));
            }
            if (byPod.or(() -> byNamespace).isEmpty()) {
                return new Skip(SkipReason.NOT_ASKED_FOR, detailsWithoutEffect(annotations));
            }
            return inject(pod, namespace, annotations, byPod.isPresent(), facts);
        } catch (RefusedException e) {
            return new Refuse(Excerpt.message(e.getMessage()));
        }
    }

    /**
     * Returns warnings for the author of a pod about names that look like annotations or labels of Sidewarp, but have
     * no effect.
     */
    public static List<String> namesWithoutEffect(Pod pod) {
        Set<String> labels = Optional.ofNullable(pod.getMetadata())
                .map(ObjectMeta::getLabels)
                .orElseGet(Map::of)
                .keySet();
        return Stream.of(
                        withoutEffect("annotation", annotations(pod).keySet(), ANNOTATIONS),
                        withoutEffect("label", labels, Set.of(SIDECAR_LABEL)))
                .flatMap(Optional::stream)
                .toList();
    }

    private static Optional<String> withoutEffect(String kind, Set<String> present, Set<String> known) {
        Set<String> unknown = present.stream()
                .filter(name -> name.startsWith(PREFIX) && !known.contains(name))
                .collect(Collectors.toCollection(TreeSet::new));
        return unknown.isEmpty()
                ? Optional.empty()
                : Optional.of("the " + kind + " " + Excerpt.names(unknown)
                        + " has no effect; annotations of pods that have one are " + INJECT + ", "
                        + String.join(", ", DETAILS));
    }

    private static InjectionDecision inject(
            Pod pod, String namespace, Map<String, String> annotations, boolean askedByPod, InjectionFacts facts) {
        if (pod.getSpec() == null || pod.getSpec().getContainers() == null) {
            // The API server refuses such a pod too, but only after the webhook has answered.
            throw new RefusedException("the pod has no containers");
        }
        Optional<String> system = system(pod.getSpec()).filter(name -> !name.equals(LINUX));
        if (system.isPresent()) {
            return without(
                    SkipReason.NOT_LINUX,
                    "the pod runs on " + Excerpt.of(system.get()) + " nodes, and sidecars run on " + LINUX
                            + " ones; opt out with " + INJECT + ": disabled",
                    askedByPod);
        }
        long size = PodMutator.containers(pod.getSpec()).count();
        if (size > MAX_CONTAINERS) {
            throw new RefusedException("the pod has " + size + " containers, and can have " + MAX_CONTAINERS
                    + " with a sidecar; make several pods of it, or opt out with " + INJECT + ": disabled");
        }
        Optional<String> named = Optional.ofNullable(annotations.get(PROFILE));
        named.filter(name -> !NAME.matcher(name).matches()).ifPresent(name -> {
            throw new RefusedException("the annotation " + PROFILE + " is " + Excerpt.quoted(name)
                    + ", which is no valid name of a SidecarProfile; give the name of a profile in"
                    + " namespace " + namespace + ", or remove the annotation");
        });
        Optional<SidecarProfileSpec> found = facts.profile(named.orElse(DEFAULT_PROFILE));
        if (named.isPresent() && found.isEmpty()) {
            throw new RefusedException("the annotation " + PROFILE + " names the SidecarProfile " + named.get()
                    + ", which namespace " + namespace + " does not have; create it there, or name another one");
        }
        SidecarProfileSpec profile = found.orElseGet(SidecarProfileSpec::defaults);
        String profileName = found.isPresent() ? named.orElse(DEFAULT_PROFILE) : BUILT_IN_PROFILE;
        Quantity sharedMemory = sharedMemory(annotations.get(SHARED_MEMORY)).orElse(profile.sharedMemory());
        Quantity memory = PodSharedVolume.memory(pod.getSpec(), sharedMemory);
        IdentityOffer offer = facts.identities();
        Optional<String> wrong = ProfileRules.whatIsWrong(profile, memory, namespace, offer)
                .or(() -> PeerSecurity.waitsForCa(profile, offer) ? Optional.of(ProfileRules.NO_CA) : Optional.empty());
        if (wrong.isPresent()) {
            throw new RefusedException("the SidecarProfile " + profileName + " of namespace " + namespace
                    + " cannot be used: " + wrong.get());
        }
        PeerSecurity security = PeerSecurity.of(profile, namespace, offer);

        boolean asNative = profile.placement() == SidecarPlacement.NATIVE
                || (profile.placement() == SidecarPlacement.AUTO && facts.has(KubernetesFeature.NATIVE_SIDECARS));
        if (asNative && !facts.isInServer(KubernetesFeature.NATIVE_SIDECARS)) {
            throw new RefusedException("the SidecarProfile " + profileName + " " + ProfileRules.NO_NATIVE_SIDECARS);
        }
        if (!asNative && endsByItself(pod)) {
            return without(
                    SkipReason.NEVER_COMPLETES,
                    "a pod with restartPolicy " + Excerpt.of(pod.getSpec().getRestartPolicy())
                            + " would never complete with an ordinary container as sidecar; native sidecars need Kubernetes 1.29"
                            + " or later, on each Linux node too, and the placement Auto or Native",
                    askedByPod);
        }

        Set<String> containers = containers(pod, annotations.get(CONTAINERS));
        Set<String> ended = endedBefore(pod.getSpec(), asNative);
        containers.stream().filter(ended::contains).findFirst().ifPresent(name -> {
            throw new RefusedException("the annotation " + CONTAINERS + " names the init container " + Excerpt.of(name)
                    + ", which ends before an ordinary sidecar starts; do not name it, or use a native sidecar, which"
                    + " needs Kubernetes 1.29 or later, on each Linux node too, and the placement Auto or Native");
        });
        PodCollisions.whatIsWrong(pod, profile, containers, ended, security.source())
                .or(() -> HugePages.whatIsWrong(pod.getSpec(), profile, profileName))
                .or(() -> PodResources.whatIsWrong(pod.getSpec(), profile, profileName, memory, asNative))
                .ifPresent(message -> {
                    throw new RefusedException(message);
                });
        int rnics = rnics(annotations.get(RNICS)).orElse(profile.rnics());
        Optional<VerbsLibrary> verbs = verbs(annotations.get(VERBS));
        verbs.flatMap(library -> library.whatIsWrong(pod.getSpec(), containers, rnics, profileName))
                .ifPresent(message -> {
                    throw new RefusedException(message);
                });
        Optional<PodNetwork> network = rnics == 0
                ? Optional.empty()
                : Optional.ofNullable(profile.nicPolicy()).map(policy -> network(policy, profileName, facts));
        return new Inject(
                profileName,
                profile,
                containers,
                rnics,
                network.map(wanted -> networks(annotations.get(NETWORKS), namespace, wanted, rnics)),
                network.map(PodNetwork::resourceName).orElse(RNIC_RESOURCE),
                rnics == 0 || network.isPresent()
                        ? Optional.empty()
                        : claimTemplate(profile, profileName, namespace, rnics, facts),
                sharedMemory,
                asNative,
                verbs,
                security,
                facts.namespaceAnnotations());
    }

    /**
     * Decides about a pod that can have no sidecar. Only a pod that asks for a sidecar by its own annotation is
     * refused.
     */
    private static Skip without(SkipReason reason, String why, boolean askedByPod) {
        if (askedByPod) {
            throw new RefusedException(why);
        }
        return new Skip(reason, List.of("no sidecar was injected: " + why));
    }

    private static Optional<Boolean> enabled(@Nullable String value, String where) {
        if (value == null) {
            return Optional.empty();
        }
        return Optional.of(
                switch (value) {
                    case "enabled", "true" -> true;
                    case "disabled", "false" -> false;
                    default ->
                        throw new RefusedException(
                                where + " is " + Excerpt.quoted(value) + "; it can be \"enabled\" or \"disabled\"");
                });
    }

    private static List<String> optOutWarnings(
            Map<String, String> annotations, Optional<Boolean> byPod, String namespace) {
        if (byPod.equals(Optional.of(true))) {
            return List.of("the annotation " + INJECT + " asks for a sidecar, but the label " + INJECT
                    + " of namespace " + namespace + " forbids it; no sidecar was injected");
        }
        return detailsWithoutEffect(annotations);
    }

    private static List<String> detailsWithoutEffect(Map<String, String> annotations) {
        List<String> present = DETAILS.stream().filter(annotations::containsKey).toList();
        return present.isEmpty()
                ? List.of()
                : List.of(String.join(", ", present) + " had no effect, since the pod gets no sidecar; " + INJECT
                        + ": enabled asks for one");
    }

    private static Set<String> containers(Pod pod, @Nullable String annotation) {
        Set<String> containers = names(pod.getSpec().getContainers().stream());
        if (annotation == null) {
            return containers;
        }
        Set<String> all = names(
                Stream.concat(pod.getSpec().getContainers().stream(), pod.getSpec().getInitContainers().stream()));
        Set<String> chosen = Arrays.stream(annotation.split(",", -1))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .collect(Collectors.toCollection(LinkedHashSet::new));
        if (chosen.isEmpty()) {
            throw new RefusedException(
                    "the annotation " + CONTAINERS + " names no container; the pod has " + Excerpt.names(all));
        }
        for (String name : chosen) {
            if (!all.contains(name)) {
                throw new RefusedException("the annotation " + CONTAINERS + " names " + Excerpt.of(name)
                        + ", which is no container of the pod; it has " + Excerpt.names(all));
            }
        }
        return chosen;
    }

    /** Returns the names of the containers that have ended when the sidecar starts. */
    private static Set<String> endedBefore(PodSpec spec, boolean asNative) {
        return asNative
                ? Set.of()
                : names(spec.getInitContainers().stream()
                        .filter(container -> !"Always".equals(container.getRestartPolicy())));
    }

    private static Set<String> names(Stream<Container> containers) {
        return containers
                .filter(container -> !PodMutator.isAdded(container))
                .map(Container::getName)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static Optional<Integer> rnics(@Nullable String annotation) {
        if (annotation == null) {
            return Optional.empty();
        }
        try {
            int value = Integer.parseInt(annotation.strip());
            if (value >= 0 && value <= MAX_RNICS) {
                return Optional.of(value);
            }
        } catch (NumberFormatException e) {
            // The refusal is below, together with that of a number out of range.
        }
        throw new RefusedException("the annotation " + RNICS + " is " + Excerpt.quoted(annotation)
                + "; it can be a number from 0 to " + MAX_RNICS);
    }

    private static Optional<VerbsLibrary> verbs(@Nullable String annotation) {
        if (annotation == null || annotation.equals("disabled")) {
            return Optional.empty();
        }
        return Optional.of(VerbsLibrary.of(annotation)
                .orElseThrow(() -> new RefusedException("the annotation " + VERBS + " is " + Excerpt.quoted(annotation)
                        + "; it can be " + VerbsLibrary.VALUES + " or \"disabled\"")));
    }

    private static PodNetwork network(String nicPolicy, String profileName, InjectionFacts facts) {
        return facts.network(nicPolicy)
                .orElseThrow(() -> new RefusedException(
                        "the SidecarProfile " + profileName + " " + ProfileRules.noNetwork(nicPolicy)));
    }

    /** Returns the template of a pod's claim. Empty if the pod requests the extended resource. */
    private static Optional<String> claimTemplate(
            SidecarProfileSpec profile, String profileName, String namespace, int rnics, InjectionFacts facts) {
        if (!facts.has(KubernetesFeature.RESOURCE_CLAIMS)) {
            return Optional.empty();
        }
        // The built-in profile has no template, and no devices either.
        if (profile.rnics() == rnics) {
            return Optional.of(PodClaim.templateOf(profileName));
        }
        if (facts.has(KubernetesFeature.EXTENDED_RESOURCE_CLAIMS)) {
            return Optional.empty();
        }
        throw new RefusedException("the annotation " + RNICS + " is " + rnics + ", and the SidecarProfile "
                + profileName
                + " of namespace " + namespace + " has rnics: " + profile.rnics()
                + "; before Kubernetes 1.36, ResourceClaims have the number of the profile: name a SidecarProfile with"
                + " rnics: " + rnics + " by the annotation " + PROFILE + ", and remove the annotation " + RNICS);
    }

    private static String networks(@Nullable String annotation, String namespace, PodNetwork network, int rnics) {
        try {
            return network.addTo(annotation, namespace, rnics);
        } catch (IllegalArgumentException e) {
            throw new RefusedException("the annotation " + NETWORKS + " cannot be read: " + e.getMessage()
                    + "; it can be names separated by commas, or a JSON list");
        }
    }

    private static Optional<Quantity> sharedMemory(@Nullable String annotation) {
        if (annotation == null) {
            return Optional.empty();
        }
        Optional<Quantity> amount = ProfileRules.amount(annotation.strip());
        if (amount.isEmpty()) {
            throw new RefusedException("the annotation " + SHARED_MEMORY + " is " + Excerpt.quoted(annotation)
                    + "; it can be an amount of memory above 0, for instance 512Mi or 2Gi");
        }
        return amount;
    }

    /** Returns the operating system that a pod names. */
    private static Optional<String> system(PodSpec spec) {
        return Optional.ofNullable(spec.getOs())
                .map(PodOS::getName)
                .or(() -> Optional.ofNullable(spec.getNodeSelector()).map(labels -> labels.get(SYSTEM_LABEL)));
    }

    private static boolean endsByItself(Pod pod) {
        String restartPolicy = pod.getSpec().getRestartPolicy();
        return restartPolicy != null && !restartPolicy.equals("Always");
    }

    static Map<String, String> annotations(Pod pod) {
        return Optional.ofNullable(pod.getMetadata())
                .map(ObjectMeta::getAnnotations)
                .orElseGet(Map::of);
    }

    private static final class RefusedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RefusedException(String message) {
            super(message, null, false, false);
        }

        @Override
        public String getMessage() {
            return String.valueOf(super.getMessage());
        }
    }
}
