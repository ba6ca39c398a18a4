// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.TemplateCommand;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The chart, as Helm renders it. */
final class Chart {

    static final String NAMESPACE = "sidewarp-system";

    /** The oldest version that the chart is for. */
    static final String OLDEST = "1.20.2";

    /** The oldest version with ResourceClaims. */
    static final String WITH_CLAIMS = "1.34.0";

    /** A version with all features that the chart uses, but for ResourceClaims. */
    static final String RECENT = "1.32.0";

    private static final String WITHOUT_CLUSTER = "{{ define \"sidewarp.lookup\" }}{}{{ end }}";
    private static final Path TEMPLATES = withoutCluster();
    private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();

    private Chart() {}

    /** The root of the repository. */
    static Path root() {
        return Path.of(Objects.requireNonNull(System.getProperty("sidewarp.root"), "set by the build"));
    }

    static Path directory() {
        return root().resolve("helm/sidewarp");
    }

    static Helm helm() {
        return new Helm(directory());
    }

    /**
     * Creates a command that needs no cluster. By default the library asks a cluster for objects in cases where
     * {@code helm template} does not.
     */
    static TemplateCommand template() {
        return new Helm(TEMPLATES).template();
    }

    private static Path withoutCluster() {
        Path directory = root().resolve("helm/target/chart-without-cluster");
        try (Stream<Path> former = Files.exists(directory) ? Files.walk(directory) : Stream.empty()) {
            for (Path file : former.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return copy(directory, UnaryOperator.identity());
    }

    private static Path copy(Path copy, UnaryOperator<String> change) {
        try (Stream<Path> files = Files.walk(directory())) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Path target = copy.resolve(directory().relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    String text = file.endsWith("_lookup.tpl") ? WITHOUT_CLUSTER : Files.readString(file);
                    Files.writeString(target, change.apply(text));
                }
            }
            return copy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Renders all objects, in Helm's order. Values are given as {@code name=value}. */
    static String render(String kubeVersion, String... values) {
        TemplateCommand command =
                template().withName("sidewarp").withNamespace(NAMESPACE).withKubeVersion(kubeVersion);
        for (String value : values) {
            int equals = value.indexOf('=');
            command.set(value.substring(0, equals), value.substring(equals + 1));
        }
        return command.call();
    }

    /** Renders all objects, with values as in a file. */
    static String renderWith(String kubeVersion, String yaml, Path scratch) throws IOException {
        return template()
                .withName("sidewarp")
                .withNamespace(NAMESPACE)
                .withKubeVersion(kubeVersion)
                .withValuesFile(Files.writeString(scratch.resolve("values.yaml"), yaml))
                .call();
    }

    /**
     * Renders the clean-up Job. The library does not render hooks, so a copy of the chart has the Job as an ordinary
     * object.
     */
    static String renderCleanUp(String kubeVersion, Path scratch) throws IOException {
        Path copy = copy(
                scratch.resolve("sidewarp"),
                text -> text.replace("    helm.sh/hook: pre-delete\n", "    unhooked: pre-delete\n"));
        String rendered = new Helm(copy)
                .template()
                .withName("sidewarp")
                .withNamespace(NAMESPACE)
                .withKubeVersion(kubeVersion)
                .call();
        return documents(rendered).stream()
                .filter(document -> document.contains("    unhooked: pre-delete\n"))
                .map(document -> document.replace("    unhooked: pre-delete\n", "    helm.sh/hook: pre-delete\n"))
                .collect(Collectors.joining("---\n"));
    }

    /** Renders all objects as on OpenShift. The library cannot add API groups, so a copy of the chart believes in it. */
    static String renderOnOpenShift(String kubeVersion, Path scratch) {
        Path copy = copy(
                scratch.resolve("sidewarp"),
                text -> text.replace(".Capabilities.APIVersions.Has \"security.openshift.io/v1\"", "true"));
        return new Helm(copy)
                .template()
                .withName("sidewarp")
                .withNamespace(NAMESPACE)
                .withKubeVersion(kubeVersion)
                .call();
    }

    /** Renders all objects of a chart that has this chart as a part, with the condition {@code sidewarp.enabled}. */
    static String renderAsPart(String kubeVersion, String yaml, Path scratch) throws IOException {
        Path parent = scratch.resolve("parent");
        copy(Files.createDirectories(parent.resolve("charts")).resolve("sidewarp"), UnaryOperator.identity());
        Files.writeString(parent.resolve("Chart.yaml"), """
                {apiVersion: v2, name: parent, version: 1.0.0,
                 dependencies: [{name: sidewarp, version: 0.1.0, condition: sidewarp.enabled}]}
                """);
        String rendered = new Helm(parent)
                .template()
                .withName("parent")
                .withNamespace(NAMESPACE)
                .withKubeVersion(kubeVersion)
                .withValuesFile(Files.writeString(scratch.resolve("values.yaml"), yaml))
                .call();
        return Objects.requireNonNullElse(rendered, "");
    }

    /** Returns the documents of a stream, without empty documents. */
    static List<String> documents(String yaml) {
        return Arrays.stream(yaml.split("(?m)^---\\s*$"))
                .map(document -> document.strip() + "\n")
                .filter(document -> document.lines().anyMatch(line -> !line.isBlank() && !line.startsWith("#")))
                .toList();
    }

    /** Returns the manifests of the programs in {@code examples}. */
    static List<Path> examplePods() throws IOException {
        try (Stream<Path> directories = Files.list(root().resolve("examples"))) {
            return directories
                    .map(directory -> directory.resolve("pods.yaml"))
                    .filter(Files::exists)
                    .sorted()
                    .toList();
        }
    }

    static HasMetadata parse(String document) {
        Object parsed = SERIALIZATION.unmarshal(new ByteArrayInputStream(document.getBytes(StandardCharsets.UTF_8)));
        return (HasMetadata) parsed;
    }

    /** Parses a document as plain data, such as values. */
    static Map<String, Object> data(String document) {
        return SERIALIZATION
                .unmarshal(document, GenericKubernetesResource.class)
                .getAdditionalProperties();
    }

    static List<HasMetadata> objects(String yaml) {
        List<HasMetadata> objects = new ArrayList<>();
        documents(yaml).forEach(document -> objects.add(parse(document)));
        return objects;
    }

    /** Returns the only object of a kind and name. */
    static <T extends HasMetadata> T find(String yaml, Class<T> type, String name) {
        List<T> found = objects(yaml).stream()
                .filter(type::isInstance)
                .map(type::cast)
                .filter(object -> object.getMetadata().getName().equals(name))
                .toList();
        if (found.size() != 1) {
            throw new AssertionError(found.size() + " objects of " + type.getSimpleName() + " " + name);
        }
        return found.getFirst();
    }

    /** Returns the names of objects by kind. */
    static Map<String, List<String>> names(String yaml) {
        Map<String, List<String>> names = new LinkedHashMap<>();
        objects(yaml)
                .forEach(object -> names.computeIfAbsent(object.getKind(), _ -> new ArrayList<>())
                        .add(object.getMetadata().getName()));
        return names;
    }
}
