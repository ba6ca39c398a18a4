// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Checks the generated definitions, and that the files of {@link Sample} use all of their properties. */
class DefinitionsTest {

    static final List<Class<? extends CustomResource<?, ?>>> TYPES = Sample.TYPES;

    /** Custom resources that users write. */
    static final List<Class<? extends CustomResource<?, ?>>> WRITTEN_BY_USERS =
            List.of(IwarpNicPolicy.class, SidecarProfile.class);

    @ParameterizedTest
    @FieldSource("TYPES")
    void everyPropertyIsDescribed(Class<? extends CustomResource<?, ?>> type) {
        assertThat(version(type).getSchema().getOpenAPIV3Schema().getDescription())
                .endsWith(".");
        assertThat(properties(type))
                .isNotEmpty()
                .allSatisfy((path, property) ->
                        assertThat(property.getDescription()).as(path).matches("(?s)[A-Z0-9].*\\."));
    }

    @ParameterizedTest
    @FieldSource("TYPES")
    void statusIsASubresource(Class<? extends CustomResource<?, ?>> type) {
        assertThat(version(type).getSubresources().getStatus()).isNotNull();
    }

    @ParameterizedTest
    @FieldSource("TYPES")
    void everyPropertyIsInAValidFile(Class<? extends CustomResource<?, ?>> type) {
        Set<String> used = new TreeSet<>();
        Sample.valid()
                .filter(sample -> sample.type() == type)
                .forEach(sample -> collectPaths("", sample.inputTree(), used));

        assertThat(used).containsAll(properties(type).keySet());
    }

    @ParameterizedTest
    @FieldSource("WRITTEN_BY_USERS")
    void everyConstraintOfASpecificationRefusesAnInvalidFile(Class<? extends CustomResource<?, ?>> type) {
        Set<String> constrained = properties(type).entrySet().stream()
                .filter(entry -> entry.getKey().startsWith("spec.") && isConstrained(entry.getValue()))
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> refused = Sample.invalid()
                .filter(sample -> sample.type() == type)
                .map(sample -> sample.refused().getFirst())
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(refused).containsAll(constrained);
    }

    @ParameterizedTest
    @FieldSource("TYPES")
    void everyResourceIsInTheCategorySidewarp(Class<? extends CustomResource<?, ?>> type) {
        assertThat(definition(type).getSpec().getNames().getCategories()).containsExactly("sidewarp");
    }

    @Test
    void rulesInCelHaveMessages() {
        assertThat(TYPES.stream()
                        .flatMap(type -> properties(type).values().stream())
                        .flatMap(property -> property.getXKubernetesValidations().stream()))
                .isNotEmpty()
                .allSatisfy(rule -> assertThat(rule.getMessage()).isNotBlank());
    }

    private static CustomResourceDefinitionVersion version(Class<? extends CustomResource<?, ?>> type) {
        return definition(type).getSpec().getVersions().getFirst();
    }

    private static CustomResourceDefinition definition(Class<? extends CustomResource<?, ?>> type) {
        try (InputStream content = Sample.definition(type).openStream()) {
            return Serialization.unmarshal(content, CustomResourceDefinition.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All properties by their paths; entries of lists have that of the list. */
    private static Map<String, JSONSchemaProps> properties(Class<? extends CustomResource<?, ?>> type) {
        Map<String, JSONSchemaProps> found = new TreeMap<>();
        collectProperties("", version(type).getSchema().getOpenAPIV3Schema(), found);
        return found;
    }

    private static void collectProperties(String prefix, JSONSchemaProps schema, Map<String, JSONSchemaProps> found) {
        if (schema.getProperties() != null) {
            schema.getProperties().forEach((name, property) -> {
                found.put(prefix + name, property);
                collectProperties(prefix + name + ".", property, found);
            });
        }
        if (schema.getItems() != null) {
            collectProperties(prefix, schema.getItems().getSchema(), found);
        }
    }

    private static void collectPaths(String prefix, JsonNode node, Set<String> found) {
        if (node.isArray()) {
            node.forEach(entry -> collectPaths(prefix, entry, found));
        }
        node.properties().forEach(entry -> {
            found.add(prefix + entry.getKey());
            collectPaths(prefix + entry.getKey() + ".", entry.getValue(), found);
        });
    }

    private static boolean isConstrained(JSONSchemaProps property) {
        JSONSchemaProps entry =
                property.getItems() == null ? null : property.getItems().getSchema();
        return Stream.<Function<JSONSchemaProps, ?>>of(
                                JSONSchemaProps::getPattern,
                                JSONSchemaProps::getMinimum,
                                JSONSchemaProps::getMaximum,
                                JSONSchemaProps::getMinItems,
                                JSONSchemaProps::getMinProperties,
                                JSONSchemaProps::getMaxProperties)
                        .anyMatch(constraint -> constraint.apply(property) != null)
                || !property.getEnum().isEmpty()
                || entry != null && isConstrained(entry);
    }
}
