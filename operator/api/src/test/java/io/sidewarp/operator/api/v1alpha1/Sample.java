// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A file of the test resources with a custom resource. The first document is the input of a user. A second document of
 * {@code valid-*.yaml} has the members that the API server returns. Files {@code invalid-*.yaml} begin with comments.
 * The comment {@code # refused: a; b} lists texts that the refusal must contain: the member, and values of the rule. The
 * wording differs between versions of the API server. The comment {@code # needs: CEL} says
 * that only CEL rules refuse the file.
 */
record Sample(Class<? extends CustomResource<?, ?>> type, Path file, List<String> documents) {

    static final List<Class<? extends CustomResource<?, ?>>> TYPES =
            List.of(IwarpNicPolicy.class, IwarpNode.class, SidecarProfile.class);

    private static final YAMLMapper YAML = YAMLMapper.builder()
            .disable(YAMLParser.Feature.EMPTY_STRING_AS_NULL)
            .build();
    private static final Pattern SEPARATOR = Pattern.compile("(?m)^---\n");
    private static final String REFUSED = "# refused: ";
    private static final String NEEDS_CEL = "# needs: CEL";

    static Stream<Sample> valid() {
        return all("valid-");
    }

    static Stream<Sample> invalid() {
        return all("invalid-");
    }

    private static Stream<Sample> all(String prefix) {
        return TYPES.stream().flatMap(type -> {
            try (Stream<Path> files = Files.list(path(resource(HasMetadata.getPlural(type))))) {
                return files.filter(file -> file.getFileName().toString().startsWith(prefix)).sorted().toList().stream()
                        .map(file -> read(type, file));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static Sample read(Class<? extends CustomResource<?, ?>> type, Path file) {
        try {
            return new Sample(type, file, List.of(SEPARATOR.split(Files.readString(file))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The generated definition of a custom resource. */
    static URL definition(Class<? extends CustomResource<?, ?>> type) {
        return resource("META-INF/fabric8/" + HasMetadata.getFullResourceName(type) + "-v1.yml");
    }

    private static URL resource(String name) {
        return Objects.requireNonNull(Sample.class.getResource("/" + name), name);
    }

    private static Path path(URL directory) {
        try {
            return Path.of(directory.toURI());
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** Returns the input of a user. */
    GenericKubernetesResource input() {
        return Serialization.unmarshal(inputTree().toString(), GenericKubernetesResource.class);
    }

    /** Returns the input of a user as an object of its type. */
    CustomResource<?, ?> typedInput() {
        return Serialization.unmarshal(inputTree().toString(), type);
    }

    JsonNode inputTree() {
        return tree(documents.getFirst());
    }

    /** The members that the API server has to return. */
    JsonNode returned() {
        return tree(documents.get(1));
    }

    /** Texts that the refusal has to contain. */
    List<String> refused() {
        String line = documents
                .getFirst()
                .lines()
                .filter(candidate -> candidate.startsWith(REFUSED))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(file + " has no line " + REFUSED));
        return List.of(line.substring(REFUSED.length()).split("; "));
    }

    boolean needsCel() {
        return documents.getFirst().lines().anyMatch(NEEDS_CEL::equals);
    }

    /** YAML, and JSON as a part of it. */
    static JsonNode tree(String text) {
        try {
            return YAML.readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return HasMetadata.getPlural(type) + "/" + file.getFileName();
    }
}
