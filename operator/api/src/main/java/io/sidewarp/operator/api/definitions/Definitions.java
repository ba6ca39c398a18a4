// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.definitions;

import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceColumnDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.CustomResource;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Writes one definition per custom resource with the Fabric8 generator, and completes the definitions. The annotations
 * of the generator cannot express the order of printer columns, required members, descriptions of resources, map and
 * set lists, or formats.
 */
public final class Definitions {
    private record Resource(Class<? extends CustomResource<?, ?>> type, String description) {}

    private static final List<Resource> RESOURCES = List.of(
            new Resource(
                    IwarpNicPolicy.class,
                    "Selects NICs of nodes for iWARP, configures them, and defines the fallback of nodes without a"
                            + " usable NIC."),
            new Resource(
                    IwarpNode.class,
                    "State of iWARP on one node: the state that the operator requests (spec), and the state that the"
                            + " node agent reports (status). The operator writes this resource. Do not edit it."),
            new Resource(
                    SidecarProfile.class, "Settings of the sidecars that are injected into pods of this namespace."));

    /** Category of all custom resources, for {@code kubectl get sidewarp}. */
    private static final String CATEGORY = "sidewarp";

    /** An amount of CPU or memory, as Kubernetes writes it. */
    private static final String QUANTITY = "^[0-9]+([.][0-9]+)?(m|k|Ki|[MGTPE]i?)?$";

    /** A number of bytes above 0, as Kubernetes writes it. */
    private static final String SIZE = "^[1-9][0-9]*(k|Ki|[MGTPE]i?)?$";

    private Definitions() {}

    /** @param arguments the directory to write to */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        Files.createDirectories(directory);
        new CRDGenerator()
                .forCRDVersions("v1")
                .customResourceClasses(RESOURCES.stream()
                        .<Class<? extends HasMetadata>>map(Resource::type)
                        .toList())
                .withPostProcessor(new Completion())
                .inOutputDir(new File(directory.toString()))
                .detailedGenerate();
    }

    private static final class Completion implements CRDPostProcessor {
        @Override
        public HasMetadata process(HasMetadata definition, String version) {
            complete((CustomResourceDefinition) definition);
            return definition;
        }
    }

    private static void complete(CustomResourceDefinition definition) {
        Resource resource = RESOURCES.stream()
                .filter(candidate -> HasMetadata.getFullResourceName(candidate.type())
                        .equals(definition.getMetadata().getName()))
                .findFirst()
                .orElseThrow();
        definition.getSpec().getNames().setCategories(List.of(CATEGORY));
        for (CustomResourceDefinitionVersion version : definition.getSpec().getVersions()) {
            List<String> columns = Stream.of(resource.type().getAnnotationsByType(AdditionalPrinterColumn.class))
                    .map(AdditionalPrinterColumn::name)
                    .toList();
            version.getAdditionalPrinterColumns()
                    .sort(Comparator.comparing(
                            CustomResourceColumnDefinition::getName, Comparator.comparingInt(columns::indexOf)));
            JSONSchemaProps schema = version.getSchema().getOpenAPIV3Schema();
            schema.setDescription(resource.description());
            JSONSchemaProps spec = member(schema, "spec");
            JSONSchemaProps status = member(schema, "status");
            JSONSchemaProps conditions = member(status, "conditions");
            spec.setDescription("Desired state.");
            status.setDescription("Observed state.");
            conditions.setXKubernetesListType("map");
            conditions.setXKubernetesListMapKeys(List.of("type"));
            schema.setRequired(List.of("spec"));
            completeProperties(schema);
            if (resource.type() == IwarpNode.class) {
                // The list is written as a whole. An old API server leaves null in place of a set whose last entry is
                // removed, and then refuses the object.
                member(spec, "fallback").setXKubernetesListType("atomic");
            }
        }
    }

    private static JSONSchemaProps member(JSONSchemaProps schema, String name) {
        return Objects.requireNonNull(schema.getProperties().get(name), name);
    }

    /** Completes every property below a schema, including the properties of list entries and map values. */
    private static void completeProperties(JSONSchemaProps schema) {
        if (schema.getProperties() != null) {
            schema.getProperties().forEach((name, property) -> {
                complete(name, property);
                completeProperties(property);
            });
        }
        if (schema.getItems() != null) {
            completeProperties(schema.getItems().getSchema());
        }
        if (schema.getAdditionalProperties() != null) {
            JSONSchemaProps value = schema.getAdditionalProperties().getSchema();
            if (Boolean.TRUE.equals(value.getXKubernetesIntOrString())) {
                value.setPattern(QUANTITY);
                value.setMinimum(0.0);
            }
            completeProperties(value);
        }
    }

    private static void complete(String name, JSONSchemaProps property) {
        switch (name) {
            // A selector without a criterion is ambiguous: it could mean all NICs or none.
            case "nicSelector" -> property.setMinProperties(1L);
            case "fallback" -> property.setXKubernetesListType("set");
            case "lastTransitionTime", "lastReportTime" -> property.setFormat("date-time");
            // A memory-backed volume of size 0 has no limit.
            case "sharedMemory" -> {
                property.setPattern(SIZE);
                property.setMinimum(1.0);
            }
            default -> {}
        }
    }
}
