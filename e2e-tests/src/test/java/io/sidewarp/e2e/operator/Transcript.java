// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.sidewarp.e2e.support.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Transcript of the actions on a cluster and of its state, as commands of a user and their output. Namespaces have the
 * names that a user would choose.
 */
final class Transcript {
    private static final String TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
    private static final int SPACE = 3;

    private final KubernetesClient client;
    private final List<String> lines = new ArrayList<>();

    Transcript(KubernetesClient client) {
        this.client = client;
    }

    void heading(String text) {
        if (!lines.isEmpty()) {
            lines.add("");
        }
        lines.add("# " + text);
    }

    void command(String command, String output) {
        lines.add("$ " + command);
        output.strip().lines().forEach(lines::add);
    }

    /** Appends the output of {@code kubectl get}, whose table the API server makes. */
    void get(String resource, String path) {
        command("kubectl get " + resource, table(path));
    }

    private String table(String path) {
        HttpRequest request = client.getHttpClient()
                .newHttpRequestBuilder()
                .uri(URI.create(client.getMasterUrl().toString().replaceAll("/$", "") + path))
                .header("Accept", TABLE)
                .build();
        HttpResponse<String> response = Patience.get(client.getHttpClient().sendAsync(request, String.class));
        JsonNode table = client.getKubernetesSerialization().unmarshal(response.body(), JsonNode.class);
        List<Integer> shown = new ArrayList<>();
        List<List<String>> rows = new ArrayList<>(List.of(new ArrayList<>()));
        JsonNode columns = table.path("columnDefinitions");
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).path("priority").asInt() == 0) {
                shown.add(i);
                rows.getFirst().add(columns.get(i).path("name").asText().toUpperCase(Locale.ROOT));
            }
        }
        for (JsonNode row : table.path("rows")) {
            rows.add(shown.stream()
                    .map(i -> row.path("cells").path(i).asText())
                    .map(cell -> cell.equals("null") ? "" : cell)
                    .toList());
        }
        return format(rows);
    }

    private static String format(List<List<String>> rows) {
        int[] widths = IntStream.range(0, rows.getFirst().size())
                .map(column -> rows.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElse(0))
                .toArray();
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < widths.length; column++) {
                String cell = row.get(column);
                line.append(cell).repeat(' ', widths[column] - cell.length() + SPACE);
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }

    void write(Path file) {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.write(
                    file,
                    lines.stream()
                            .map(line -> line.replace(TestCluster.NAMESPACE, "sidewarp-system")
                                    .replace(TestCluster.APPLICATIONS, "shop"))
                            .toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
