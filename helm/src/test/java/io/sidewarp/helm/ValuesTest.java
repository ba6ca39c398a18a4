// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ValuesTest {

    @TempDir
    Path scratch;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    {replicas: 3}                                          | replicas
                    {controller: }                                         | controller
                    {controller: {image: }}                                | image
                    {networks: {multus: }}                                 | multus
                    {webhook: {excludedNamespaces: }}                      | excludedNamespaces
                    {controller: {replicas: 0}}                            | replicas
                    {controller: {replicas: two}}                          | replicas
                    {controller: {restoreTimeout: 10}}                     | restoreTimeout
                    {controller: {restoreTimeout: 10 minutes}}             | restoreTimeout
                    {controller: {leaseDuration: 500ms}}                   | leaseDuration
                    {controller: {logLevel: loud}}                         | logLevel
                    {controller: {settings: {webhook.port: 1}}}            | webhook.port
                    {image: {pullPolicy: Sometimes}}                       | pullPolicy
                    {image: {registry: "https://registry.example.com"}}    | registry
                    {nodeAgent: {maxUnavailable: 0%}}                      | maxUnavailable
                    {nodeAgent: {kubeletDirectory: var/lib/kubelet}}       | kubeletDirectory
                    {nodeAgent: {devicePluginDirectory: plugins}}           | devicePluginDirectory
                    {unselectedNodes: {fallback: [Hardware]}}              | fallback
                    {unselectedNodes: {softwareDevices: 100000}}           | softwareDevices
                    {networks: {multus: {namespace: Default}}}             | namespace
                    {networks: {sriov: {enabled: true}}}                   | sriov
                    {identity: {source: vault}}                            | source
                    {resourceClaims: {use: Auto}}                          | use
                    {webhook: {failurePolicy: Open}}                       | failurePolicy
                    {webhook: {timeoutSeconds: 60}}                        | timeoutSeconds
                    {enabled: 1}                                           | enabled
                    {webhook: {labels: {team: 1}}}                         | labels
                    {webhook: {annotations: [a]}}                          | annotations
                    {webhook: {port: 443}}                                 | port
                    {webhook: {port: 8080}}                                | port
                    {webhook: {url: "https://10.0.0.1:9443"}}              | url
                    {webhook: {url: "https://me@10.0.0.1/mutate-pods"}}    | url
                    {webhook: {url: "https://10.0.0.1/mutate-pods?a=1"}}   | url
                    {webhook: {url: "https://10.0.0.1/mutate-pods#a"}}     | url
                    {webhook: {certManager: {issuerRef: {kind: Secret}}}}  | issuerRef
                    {webhook: {certManager: {issuerRef: {kind: Issuer}}}}  | name
                    {webhook: {certManager: {issuerRef: {group: a.com}}}}  | name
                    {networkPolicy: {apiServerPorts: []}}                  | apiServerPorts
                    {telemetry: {otlpEndpoint: collector:4317}}            | otlpEndpoint
                    {telemetry: {otlpEndpoint: "http://fd00::1:4317"}}     | otlpEndpoint
                    {telemetry: {otlpEndpoint: "http://collector/v1"}}     | otlpEndpoint
                    {monitoring: {rules: true}}                            | rules
                    {identity: {trustDomain: Shop}}                        | trustDomain
                    {identity: {certificateValidity: 60}}                  | certificateValidity
                    """)
    void refusesABadValueAndNamesIt(String yaml, String name) {
        assertThatThrownBy(() -> Chart.renderWith(Chart.RECENT, yaml, scratch))
                .hasMessageContaining("schema")
                .hasMessageContaining(name);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost:5000",
                "registry.example.com/team",
                "registry.xn--bcher-kva.example/team",
                "registry.example.com/a__b/c--d"
            })
    void takesEachRegistryThatImagesCanHave(String registry) throws IOException {
        assertThat(Chart.renderWith(Chart.RECENT, "{image: {registry: \"%s\"}}".formatted(registry), scratch))
                .contains("image: \"" + registry + "/sidewarp/controller:");
    }

    @ParameterizedTest
    @CsvSource({"900, 15m", "60, 1h", "86400, 1d", "60, 60000ms"})
    void refusesACleanUpThatEndsBeforeTheTimeForNodesIsOver(int deadline, String timeout) {
        assertThatThrownBy(() -> render(deadline, timeout))
                .hasMessageContaining("uninstall.deadlineSeconds is " + deadline
                        + ": it must be longer than controller.restoreTimeout, which is " + timeout);
    }

    @ParameterizedTest
    @CsvSource({"901, 15m", "3601, 1h", "60, 59s", "60, 59999ms"})
    void takesACleanUpThatIsLonger(int deadline, String timeout) throws IOException {
        assertThat(render(deadline, timeout)).contains("value: \"" + timeout + "\"");
    }

    private String render(int deadline, String timeout) throws IOException {
        return Chart.renderWith(
                Chart.RECENT,
                "{controller: {restoreTimeout: %s}, uninstall: {deadlineSeconds: %d}}".formatted(timeout, deadline),
                scratch);
    }

    @ParameterizedTest
    @CsvSource({
        "controller, sidewarp.operator.restore-timeout",
        "controller, sidewarp.operator.webhook.manage.certificate",
        "controller, sidewarp.operator.webhook.port",
        "controller, sidewarp.operator.identity.trust-domain",
        "nodeAgent, sidewarp.agent.pod-resources-socket",
        "nodeAgent, sidewarp.agent.device-plugin-directory",
    })
    void refusesASettingThatAnotherValueSets(String component, String setting) {
        assertThatThrownBy(() -> Chart.renderWith(
                        Chart.RECENT, "{%s: {settings: {%s: x}}}".formatted(component, setting), scratch))
                .hasMessageContaining(component + ".settings has " + setting
                        + ", which the chart sets from another of its values: see values.yaml");
    }

    @ParameterizedTest
    @CsvSource({
        "controller, sidewarp.operator.namespace",
        "controller, sidewarp.operator.installation",
        "controller, sidewarp.operator.deployment",
        "controller, sidewarp.operator.webhook.host",
        "controller, sidewarp.operator.webhook.service",
        "controller, sidewarp.operator.webhook.configuration",
        "controller, sidewarp.operator.webhook.certificate-secret",
        "controller, sidewarp.operator.identity.secret",
        "controller, sidewarp.operator.leader-election.lease",
        "controller, sidewarp.operator.leader.election-lease",
        "nodeAgent, sidewarp.agent.node-name",
        "nodeAgent, sidewarp.agent.sysfs-root",
        "nodeAgent, sidewarp.agent.proc-root",
        "nodeAgent, sidewarp.agent.state-directory",
    })
    void refusesASettingThatItsObjectsRelyOn(String component, String setting) {
        assertThatThrownBy(() -> Chart.renderWith(
                        Chart.RECENT, "{%s: {settings: {%s: x}}}".formatted(component, setting), scratch))
                .hasMessageContaining(component + ".settings has " + setting
                        + ", which the chart's objects rely on: it cannot be changed");
    }

    @Test
    void describesEachValueInTheSchema() throws IOException {
        Map<String, Object> values =
                Chart.data(Files.readString(Chart.directory().resolve("values.yaml")));
        Map<String, Object> schema =
                Chart.data(Files.readString(Chart.directory().resolve("values.schema.json")));
        assertThat(values).isNotEmpty();
        assertDescribed("", values, schema);
    }

    @SuppressWarnings("unchecked")
    private static void assertDescribed(String path, Map<String, Object> values, Map<String, Object> schema) {
        Map<String, Object> properties = (Map<String, Object>) schema.get("properties");
        if (properties == null) {
            return;
        }
        values.forEach((name, value) -> {
            Map<String, Object> described = (Map<String, Object>) properties.get(name);
            assertThat(described).as("schema of %s%s", path, name).isNotNull().containsKey("description");
            if (value instanceof Map<?, ?> inner) {
                assertDescribed(path + name + ".", (Map<String, Object>) inner, described);
            }
        });
    }
}
