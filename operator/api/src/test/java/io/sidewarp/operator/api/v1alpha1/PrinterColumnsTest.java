// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Checks the columns and cells of {@code kubectl get}, whose tables the API server makes. */
@RealApiServer
class PrinterColumnsTest {

    private static final String AS_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
    private static final int LIMIT_SECONDS = 60;

    private static KubernetesClient client;
    private static SampleStore samples;

    /** The first row of a table, without the age. */
    private record Table(List<String> columns, List<String> cells) {}

    @BeforeAll
    static void installDefinitions(KubernetesClient admin, TestNamespaces namespaces) {
        client = admin;
        samples = new SampleStore(admin, namespaces);
    }

    @AfterAll
    static void deleteWhatWasStored() {
        samples.clear();
    }

    @Test
    void policiesShowHowManyNodesAndNicsTheyRule() throws Exception {
        Table table = store("iwarpnicpolicies/valid-with-status.yaml");

        assertThat(table.columns()).containsExactly("Name", "VFs", "Nodes", "NICs", "Ready", "Reason", "Age");
        assertThat(table.cells()).containsExactly("test", "null", "3", "6", "False", "WaitingForPods");
    }

    @Test
    void nodesShowWhatTheyOffer() throws Exception {
        Table table = store("iwarpnodes/valid-with-policies-and-status.yaml");

        assertThat(table.columns())
                .containsExactly(
                        "Name", "Provider", "Devices", "Hardware", "Ready", "Reason", "Agent", "Message", "Age");
        assertThat(table.cells())
                .containsExactly(
                        "node-1",
                        "Hardware",
                        "2",
                        "4",
                        "False",
                        "WaitingForPods",
                        "NodeNotReady",
                        "node-2 waits for 3 pods that use virtual functions of ens1f0.");
    }

    @Test
    void profilesShowWhatPodsAskFor() throws Exception {
        Table table = store("sidecarprofiles/valid-every-member.yaml");

        assertThat(table.columns()).containsExactly("Name", "RNICs", "Memory", "Image", "Ready", "Reason", "Age");
        assertThat(table.cells())
                .containsExactly(
                        "default", "2", "512Mi", "registry.example/sidewarp/sidecar:1.2.3", "False", "WaitingForPods");
    }

    private static Table store(String file) throws Exception {
        Sample sample = Sample.valid()
                .filter(candidate -> candidate.toString().equals(file))
                .findFirst()
                .orElseThrow();
        var stored = samples.store(sample);
        String namespace = stored.getMetadata().getNamespace();
        HttpClient http = client.getHttpClient();
        HttpRequest request = http.newHttpRequestBuilder()
                .uri(URI.create(client.getMasterUrl() + "apis/" + stored.getApiVersion()
                        + (namespace == null ? "" : "/namespaces/" + namespace) + "/"
                        + HasMetadata.getPlural(sample.type()) + "/"
                        + stored.getMetadata().getName()))
                .header("Accept", AS_TABLE)
                .build();
        var response = http.sendAsync(request, String.class).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(response.code()).as(response.body()).isEqualTo(HttpURLConnection.HTTP_OK);
        JsonNode table = Sample.tree(response.body());
        List<String> columns = texts(table.get("columnDefinitions").findValues("name").stream());
        List<String> cells = texts(table.get("rows").get(0).get("cells").valueStream());
        return new Table(columns, cells.subList(0, cells.size() - 1));
    }

    private static List<String> texts(Stream<JsonNode> nodes) {
        return nodes.map(JsonNode::asText).toList();
    }
}
