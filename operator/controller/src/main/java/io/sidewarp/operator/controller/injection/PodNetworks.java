// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Annotation for Multus with the networks of a pod. The annotation is a list of names separated by commas, each
 * {@code [namespace/]name[@interface]}, or a JSON list of objects with {@code name} and {@code namespace}. Depends on
 * nothing but its arguments.
 */
final class PodNetworks {
    private static final ObjectMapper JSON = new ObjectMapper();

    private PodNetworks() {}

    /**
     * Returns the annotation with a network repeated as often as requested. Existing entries stay, and count.
     *
     * @param present present annotation, or null for none
     * @param podNamespace namespace of the pod, which applies to names without a namespace
     * @throws IllegalArgumentException if {@code present} has neither form, with the reason
     */
    static String with(@Nullable String present, String podNamespace, PodNetwork network, int times) {
        String text = present == null ? "" : present.strip();
        if (text.startsWith("[")) {
            return inJson(parse(text), podNamespace, network, times);
        }
        List<String> names = Arrays.stream(text.split(",", -1))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .toList();
        // Multus refuses dots in a list of names.
        return network.name().contains(".")
                ? inJson(entries(names), podNamespace, network, times)
                : inText(names, podNamespace, network, times);
    }

    private static String inText(List<String> present, String podNamespace, PodNetwork network, int times) {
        List<String> names = new ArrayList<>(present);
        long there = names.stream()
                .map(name -> name.split("@", 2)[0])
                .map(name -> name.contains("/") ? name : podNamespace + "/" + name)
                .filter(network.toString()::equals)
                .count();
        for (long i = there; i < times; i++) {
            names.add(network.toString());
        }
        return String.join(",", names);
    }

    private static ArrayNode parse(String json) {
        try {
            JsonNode parsed = JSON.readTree(json);
            if (!(parsed instanceof ArrayNode list)) {
                throw new IllegalArgumentException("it is no JSON list");
            }
            return list;
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

    private static String inJson(ArrayNode list, String podNamespace, PodNetwork network, int times) {
        long there = StreamSupport.stream(list.spliterator(), false)
                .filter(entry -> entry.path("name").asText().equals(network.name())
                        && entry.path("namespace").asText(podNamespace).equals(network.namespace()))
                .count();
        for (long i = there; i < times; i++) {
            list.addObject().put("name", network.name()).put("namespace", network.namespace());
        }
        return list.toString();
    }
}
