// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Network of a NIC policy that pods get with a virtual function, by an annotation for Multus. The annotation is a list
 * of names separated by commas, each {@code [namespace/]name[@interface]}, or a JSON list of objects with {@code name}
 * and {@code namespace}.
 *
 * @param namespace namespace of the NetworkAttachmentDefinition
 * @param name name of the NetworkAttachmentDefinition
 * @param resourceName extended resource of the virtual functions
 */
public record PodNetwork(String namespace, String name, String resourceName) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Returns the network of a policy, if the policy has a network (yet). */
    public static Optional<PodNetwork> of(IwarpNicPolicy policy) {
        return Optional.ofNullable(policy.getStatus())
                .filter(status -> status.network() != null && status.resourceName() != null)
                .map(status -> {
                    String[] names = String.valueOf(status.network()).split("/", 2);
                    return new PodNetwork(names[0], names[1], String.valueOf(status.resourceName()));
                });
    }

    /**
     * Returns an annotation with this network repeated as often as requested. Existing entries stay, and count.
     *
     * @param present present annotation, or null for none
     * @param podNamespace namespace of the pod, which applies to names without a namespace
     * @throws IllegalArgumentException if {@code present} has neither form, with the reason
     */
    String addTo(@Nullable String present, String podNamespace, int times) {
        String text = present == null ? "" : present.strip();
        if (text.startsWith("[")) {
            return addToJson(parse(text), podNamespace, times);
        }
        List<String> names = Arrays.stream(text.split(",", -1))
                .map(String::strip)
                .filter(entry -> !entry.isEmpty())
                .toList();
        // Multus refuses dots in a list of names.
        return name.contains(".")
                ? addToJson(entries(names), podNamespace, times)
                : addToText(names, podNamespace, times);
    }

    private String addToText(List<String> present, String podNamespace, int times) {
        List<String> names = new ArrayList<>(present);
        long there = names.stream()
                .map(entry -> entry.split("@", 2)[0])
                .map(entry -> entry.contains("/") ? entry : podNamespace + "/" + entry)
                .filter(toString()::equals)
                .count();
        for (long i = there; i < times; i++) {
            names.add(toString());
        }
        return String.join(",", names);
    }

    private static ArrayNode parse(String json) {
        try {
            if (JSON.readTree(json) instanceof ArrayNode list) {
                return list;
            }
            throw new IllegalArgumentException("it is no JSON list");
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e.getOriginalMessage(), e);
        }
    }

    private static ArrayNode entries(List<String> names) {
        ArrayNode list = JSON.createArrayNode();
        for (String name : names) {
            int slash = name.indexOf('/');
            String[] parts = name.substring(slash + 1).split("@", 2);
            ObjectNode entry = list.addObject().put("name", parts[0].strip());
            if (slash >= 0) {
                entry.put("namespace", name.substring(0, slash).strip());
            }
            if (parts.length > 1) {
                entry.put("interface", parts[1].strip());
            }
        }
        return list;
    }

    private String addToJson(ArrayNode list, String podNamespace, int times) {
        long there = StreamSupport.stream(list.spliterator(), false)
                .filter(entry -> entry.path("name").asText().equals(name)
                        && entry.path("namespace").asText(podNamespace).equals(namespace))
                .count();
        for (long i = there; i < times; i++) {
            list.addObject().put("name", name).put("namespace", namespace);
        }
        return list.toString();
    }

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
