// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static org.assertj.core.api.Assertions.assertThat;

import com.marcnuri.helm.LintResult;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBinding;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChartTest {

    @Test
    void lintFindsNothing() {
        LintResult result = Chart.helm().lint().strict().call();
        assertThat(result.isFailed()).as("%s", result.getMessages()).isFalse();
    }

    @Test
    void installsTheVersionThatItIsOf() throws IOException {
        assertThat(Files.readString(Chart.directory().resolve("Chart.yaml")))
                .contains("\nappVersion: " + System.getProperty("sidewarp.version") + "\n");
        assertThat(Chart.find(Chart.render(Chart.RECENT), Deployment.class, "sidewarp-controller")
                        .getSpec()
                        .getTemplate()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getImage())
                .isEqualTo("sidewarp/controller:" + System.getProperty("sidewarp.version"));
    }

    @Test
    void runsTheControllerWithoutPrivileges(@TempDir Path scratch) throws IOException {
        String rendered = Chart.render(Chart.RECENT);
        for (PodSpec pod : new PodSpec[] {
            Chart.find(rendered, Deployment.class, "sidewarp-controller")
                    .getSpec()
                    .getTemplate()
                    .getSpec(),
            Chart.find(Chart.renderCleanUp(Chart.RECENT, scratch), Job.class, "sidewarp-uninstall")
                    .getSpec()
                    .getTemplate()
                    .getSpec()
        }) {
            assertThat(pod.getSecurityContext().getRunAsNonRoot()).isTrue();
            assertThat(pod.getSecurityContext().getSeccompProfile().getType()).isEqualTo("RuntimeDefault");
            Container container = pod.getContainers().getFirst();
            assertThat(container.getSecurityContext().getReadOnlyRootFilesystem())
                    .isTrue();
            assertThat(container.getSecurityContext().getAllowPrivilegeEscalation())
                    .isFalse();
            assertThat(container.getSecurityContext().getCapabilities().getDrop())
                    .containsExactly("ALL");
        }
    }

    @Test
    void keepsTheReasonOfAnExitInTheStatusOfThePod(@TempDir Path scratch) throws IOException {
        String rendered = Chart.render(Chart.RECENT);
        assertThat(List.of(
                        Chart.find(rendered, Deployment.class, "sidewarp-controller")
                                .getSpec()
                                .getTemplate(),
                        nodeAgent(rendered).getSpec().getTemplate(),
                        Chart.find(Chart.renderCleanUp(Chart.RECENT, scratch), Job.class, "sidewarp-uninstall")
                                .getSpec()
                                .getTemplate()))
                .flatExtracting(template -> template.getSpec().getContainers())
                .extracting("terminationMessagePolicy")
                .hasSize(3)
                .containsOnly("FallbackToLogsOnError");
    }

    @ParameterizedTest
    @ValueSource(ints = {9443, 10250})
    void leadsTheWebhooksServiceToTheController(int listening) {
        String rendered = Chart.render(Chart.RECENT, "webhook.port=" + listening);
        Deployment controller = Chart.find(rendered, Deployment.class, "sidewarp-controller");
        Service service = Chart.find(rendered, Service.class, "sidewarp-webhook");
        assertThat(controller.getSpec().getTemplate().getMetadata().getLabels())
                .containsAllEntriesOf(service.getSpec().getSelector());
        assertThat(service.getSpec().getPorts().getFirst().getPort()).isEqualTo(443);
        assertThat(controller
                        .getSpec()
                        .getTemplate()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getPorts())
                .anySatisfy(port -> {
                    assertThat(port.getName())
                            .isEqualTo(service.getSpec()
                                    .getPorts()
                                    .getFirst()
                                    .getTargetPort()
                                    .getStrVal());
                    assertThat(port.getContainerPort()).isEqualTo(listening);
                });
        assertThat(controllerEnvironment(rendered))
                .containsEntry("SIDEWARP_OPERATOR_WEBHOOK_PORT", Integer.toString(listening));
        assertThat(Chart.find(rendered, NetworkPolicy.class, "sidewarp-controller")
                        .getSpec()
                        .getIngress()
                        .getFirst()
                        .getPorts())
                .singleElement()
                .satisfies(port -> assertThat(port.getPort().getStrVal())
                        .isEqualTo(service.getSpec()
                                .getPorts()
                                .getFirst()
                                .getTargetPort()
                                .getStrVal()));
    }

    @ParameterizedTest
    @ValueSource(strings = {Chart.OLDEST, Chart.RECENT})
    void describesTheNodeAgentThatTheControllerCreates(String kubeVersion) {
        DaemonSet agent = nodeAgent(Chart.render(kubeVersion));
        assertThat(agent.getMetadata().getName()).isEqualTo("sidewarp-node-agent");
        assertThat(agent.getMetadata().getLabels())
                .containsEntry("app.kubernetes.io/managed-by", "sidewarp-controller");
        assertThat(agent.getSpec().getTemplate().getMetadata().getLabels())
                .containsAllEntriesOf(agent.getSpec().getSelector().getMatchLabels());
        Container container =
                agent.getSpec().getTemplate().getSpec().getContainers().getFirst();
        assertThat(container.getSecurityContext().getPrivileged()).isTrue();
        assertThat(container.getVolumeMounts())
                .extracting("mountPath")
                .contains(
                        "/sys",
                        "/dev",
                        "/var/lib/kubelet/device-plugins",
                        "/var/lib/kubelet/pod-resources",
                        "/var/lib/sidewarp");
        assertThat(container.getEnv()).extracting("name").contains("NODE_NAME", "POD_NAMESPACE");
    }

    @Test
    void hasValidationRulesOnlyWhereTheApiServerKnowsThem() {
        assertThat(Chart.render(Chart.RECENT)).contains("x-kubernetes-validations");
        assertThat(Chart.render(Chart.OLDEST)).doesNotContain("x-kubernetes-validations");
    }

    /** {@link NodeAgentAdmissionTest} tests what the policy does. */
    @Test
    void bindsTheTokenOfANodeAgentToItsNodeWhereTheApiServerKnowsTheNode() {
        String rendered = Chart.render("1.30.0");
        ValidatingAdmissionPolicy policy = Chart.find(rendered, ValidatingAdmissionPolicy.class, "sidewarp-node-agent");
        assertThat(policy.getSpec().getFailurePolicy()).isEqualTo("Fail");
        assertThat(policy.getSpec().getMatchConditions())
                .singleElement()
                .satisfies(condition -> assertThat(condition.getExpression())
                        .contains("'system:serviceaccount:" + Chart.NAMESPACE + ":"
                                + nodeAgent(rendered)
                                        .getSpec()
                                        .getTemplate()
                                        .getSpec()
                                        .getServiceAccountName()
                                + "'"));
        ValidatingAdmissionPolicyBinding binding =
                Chart.find(rendered, ValidatingAdmissionPolicyBinding.class, "sidewarp-node-agent");
        assertThat(binding.getSpec().getPolicyName()).isEqualTo("sidewarp-node-agent");
        assertThat(binding.getSpec().getValidationActions()).containsExactly("Deny");

        assertThat(Chart.names(Chart.render("1.29.9")))
                .doesNotContainKeys("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding");
    }

    @Test
    void leavesTheDefinitionsBehindOnRequest() {
        assertThat(Chart.find(Chart.render(Chart.RECENT), CustomResourceDefinition.class, "iwarpnodes.sidewarp.io")
                        .getMetadata()
                        .getAnnotations())
                .doesNotContainKey("helm.sh/resource-policy");
        assertThat(Chart.find(
                                Chart.render(Chart.RECENT, "crds.keep=true"),
                                CustomResourceDefinition.class,
                                "iwarpnodes.sidewarp.io")
                        .getMetadata()
                        .getAnnotations())
                .containsEntry("helm.sh/resource-policy", "keep");
        assertThat(Chart.names(Chart.render(Chart.RECENT, "crds.install=false")))
                .doesNotContainKey("CustomResourceDefinition");
    }

    /** Objects that remain would make the former operator offer the same virtual functions as the node agents. */
    @Test
    void letsTheControllerRemoveWhatItWroteForAnOperatorThatIsNotUsedAnyMore() {
        String rendered = Chart.render(Chart.RECENT, "networks.sriovNetworkOperator.enabled=false");
        List<PolicyRule> rules =
                Chart.find(rendered, ClusterRole.class, "sidewarp-controller").getRules();

        assertThat(rules)
                .filteredOn(rule -> rule.getResources().contains("sriovnetworknodepolicies"))
                .singleElement()
                .satisfies(rule -> assertThat(rule.getVerbs()).containsExactly("get", "list", "watch", "delete"));
        assertThat(rules)
                .anySatisfy(rule -> assertThat(rule.getResourceNames())
                        .contains("sriovnetworknodepolicies.sriovnetwork.openshift.io"));
    }

    @Test
    void letsTheControllerRemoveNetworksThatItWroteWhenMultusIsNotUsedAnyMore() {
        String rendered = Chart.render(Chart.RECENT, "networks.multus.enabled=false");

        assertThat(Chart.find(rendered, Role.class, "sidewarp-networks").getRules())
                .singleElement()
                .satisfies(rule -> assertThat(rule.getVerbs()).containsExactly("get", "list", "watch", "delete"));
        assertThat(Chart.find(rendered, RoleBinding.class, "sidewarp-networks")).isNotNull();
        assertThat(Chart.find(rendered, ClusterRole.class, "sidewarp-controller")
                        .getRules())
                .anySatisfy(rule ->
                        assertThat(rule.getResourceNames()).contains("network-attachment-definitions.k8s.cni.cncf.io"));
    }

    @Test
    void cleansUpBeforeItIsUninstalled(@TempDir Path scratch) throws IOException {
        Job job = Chart.find(Chart.renderCleanUp(Chart.RECENT, scratch), Job.class, "sidewarp-uninstall");
        assertThat(job.getMetadata().getAnnotations()).containsEntry("helm.sh/hook", "pre-delete");
        assertThat(job.getSpec()
                        .getTemplate()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getArgs())
                .containsExactly("uninstall");
    }

    /**
     * Otherwise policies would be deleted with their definitions, and wait for ever for somebody to restore their NICs.
     */
    @Test
    void leavesTheDefinitionsBehindWhereNothingCleansUp() {
        assertThat(Chart.objects(Chart.render(Chart.RECENT, "uninstall.enabled=false")))
                .filteredOn(CustomResourceDefinition.class::isInstance)
                .hasSize(3)
                .allSatisfy(definition -> assertThat(definition.getMetadata().getAnnotations())
                        .containsEntry("helm.sh/resource-policy", "keep"));
    }

    @Test
    void givesTheControllerItsSettings(@TempDir Path scratch) throws IOException {
        String rendered = Chart.renderWith(Chart.RECENT, """
                image: {registry: registry.example.com}
                controller:
                  restoreTimeout: 3m
                  settings: {sidewarp.operator.webhook.certificate-names: 10.0.0.1}
                unselectedNodes: {fallback: [KernelSiw, Software], siwDevices: 8}
                identity: {source: builtin}
                telemetry: {otlpEndpoint: "http://collector:4317"}
                """, scratch);
        assertThat(controllerEnvironment(rendered))
                .containsEntry(
                        "SIDEWARP_OPERATOR_SIDECAR_IMAGE",
                        "registry.example.com/sidewarp/sidecar:" + System.getProperty("sidewarp.version"))
                .containsEntry("SIDEWARP_OPERATOR_RESTORE_TIMEOUT", "3m")
                .containsEntry("SIDEWARP_OPERATOR_WEBHOOK_CERTIFICATE_NAMES", "10.0.0.1")
                .containsEntry("SIDEWARP_OPERATOR_UNSELECTED_FALLBACK", "KERNEL_SIW,SOFTWARE")
                .containsEntry("SIDEWARP_OPERATOR_UNSELECTED_SIW_DEVICES", "8")
                .containsEntry("SIDEWARP_OPERATOR_WEBHOOK_MANAGE_CERTIFICATE", "true")
                .containsEntry("SIDEWARP_OPERATOR_IDENTITY_SOURCE", "builtin")
                .containsEntry("OTEL_SDK_DISABLED", "false")
                .containsEntry("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317");
    }

    /** Helm reads numbers of a file as floating point numbers, and writes large ones with an exponent. */
    @Test
    void writesNumbersOfSettingsInFull(@TempDir Path scratch) throws IOException {
        String rendered = Chart.renderWith(Chart.RECENT, """
                controller:
                  settings: {sidewarp.operator.webhook.pending-octets: 67108864, sidewarp.operator.a: 0.5, sidewarp.operator.b: true,
                    sidewarp.operator.c: "1e6"}
                nodeAgent: {settings: {sidewarp.agent.a: 1000000}}
                """, scratch);

        assertThat(controllerEnvironment(rendered))
                .containsEntry("SIDEWARP_OPERATOR_WEBHOOK_PENDING_OCTETS", "67108864")
                .containsEntry("SIDEWARP_OPERATOR_A", "0.5")
                .containsEntry("SIDEWARP_OPERATOR_B", "true")
                .containsEntry("SIDEWARP_OPERATOR_C", "1e6");
        assertThat(nodeAgent(rendered)
                        .getSpec()
                        .getTemplate()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getEnv())
                .contains(new EnvVar("SIDEWARP_AGENT_A", "1000000", null));
    }

    @Test
    void tellsTheControllerWhereTheApiServerCallsBesideNamesGivenByHand(@TempDir Path scratch) throws IOException {
        assertThat(controllerEnvironment(Chart.render(Chart.RECENT)))
                .doesNotContainKeys("SIDEWARP_OPERATOR_WEBHOOK_URL", "SIDEWARP_OPERATOR_WEBHOOK_CERTIFICATE_NAMES");
        assertThat(controllerEnvironment(Chart.renderWith(Chart.RECENT, """
                controller: {settings: {sidewarp.operator.webhook.certificate-names: webhook.example.com}}
                webhook: {url: "https://10.0.0.1:9443/mutate-pods"}
                """, scratch)))
                .containsEntry("SIDEWARP_OPERATOR_WEBHOOK_URL", "https://10.0.0.1:9443/mutate-pods")
                .containsEntry("SIDEWARP_OPERATOR_WEBHOOK_CERTIFICATE_NAMES", "webhook.example.com");
    }

    @ParameterizedTest
    @CsvSource({
        "http://collector.observability:4317, 4317",
        "http://[fd00::1]:4317, 4317",
        "https://[fd00::1], 443",
        "https://collector, 443",
        "http://10.0.0.1, 80",
        "https://10.0.0.1:1, 1",
    })
    void letsTheControllerReachTheCollectorOfTraces(String endpoint, int port, @TempDir Path scratch)
            throws IOException {
        String rendered =
                Chart.renderWith(Chart.RECENT, "{telemetry: {otlpEndpoint: \"%s\"}}".formatted(endpoint), scratch);

        assertThat(controllerEnvironment(rendered)).containsEntry("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
        assertThat(Chart.find(rendered, NetworkPolicy.class, "sidewarp-controller")
                        .getSpec()
                        .getEgress()
                        .getLast()
                        .getPorts())
                .singleElement()
                .satisfies(allowed -> assertThat(allowed.getPort().getIntVal()).isEqualTo(port));
    }

    @Test
    void letsTheCleanUpReachWhatTheControllerReaches(@TempDir Path scratch) throws IOException {
        String rendered = Chart.render(Chart.RECENT);
        LabelSelector selector = Chart.find(rendered, NetworkPolicy.class, "sidewarp-controller")
                .getSpec()
                .getPodSelector();
        Map<String, String> controller = Chart.find(rendered, Deployment.class, "sidewarp-controller")
                .getSpec()
                .getTemplate()
                .getMetadata()
                .getLabels();
        Map<String, String> cleanUp = Chart.find(
                        Chart.renderCleanUp(Chart.RECENT, scratch), Job.class, "sidewarp-uninstall")
                .getSpec()
                .getTemplate()
                .getMetadata()
                .getLabels();
        Map<String, String> nodeAgent =
                nodeAgent(rendered).getSpec().getTemplate().getMetadata().getLabels();

        assertThat(selects(selector, controller)).isTrue();
        assertThat(selects(selector, cleanUp)).isTrue();
        assertThat(selects(selector, nodeAgent)).isFalse();
    }

    /** Matches labels, and expressions that list values. */
    private static boolean selects(LabelSelector selector, Map<String, String> labels) {
        return labels.entrySet().containsAll(selector.getMatchLabels().entrySet())
                && selector.getMatchExpressions().stream()
                        .allMatch(expression -> expression.getOperator().equals("In")
                                && expression.getValues().contains(labels.get(expression.getKey())));
    }

    @Test
    void makesTheNamespaceOnRequestWithTheLabelThatTheNodeAgentNeeds() {
        assertThat(Chart.names(Chart.render(Chart.RECENT))).doesNotContainKey("Namespace");
        assertThat(Chart.objects(Chart.render(Chart.RECENT, "createNamespace=true")))
                .filteredOn(object -> object.getKind().equals("Namespace"))
                .singleElement()
                .satisfies(namespace -> assertThat(namespace.getMetadata().getLabels())
                        .containsEntry("pod-security.kubernetes.io/enforce", "privileged"));
    }

    private static Map<String, String> controllerEnvironment(String rendered) {
        return Chart.find(rendered, Deployment.class, "sidewarp-controller")
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst()
                .getEnv()
                .stream()
                .filter(variable -> variable.getValue() != null)
                .collect(Collectors.toMap(EnvVar::getName, EnvVar::getValue));
    }

    private static DaemonSet nodeAgent(String rendered) {
        return (DaemonSet) Chart.parse(installation(rendered).get("node-agent.yaml"));
    }

    /**
     * Applying the manifest again cancels a clean-up that has begun. {@code kubectl} keeps members that it did not
     * write.
     */
    @Test
    void saysThatNothingIsUninstalled() {
        assertThat(Chart.find(Chart.render(Chart.RECENT), ConfigMap.class, "sidewarp-operator")
                        .getMetadata()
                        .getAnnotations())
                .containsEntry("sidewarp.io/uninstalling", "false");
    }

    private static Map<String, String> installation(String rendered) {
        ConfigMap installation = Chart.find(rendered, ConfigMap.class, "sidewarp-operator");
        assertThat(installation.getMetadata().getLabels()).containsEntry("app.kubernetes.io/component", "installation");
        return installation.getData();
    }

    /** YAML reads 1e3 as a number, but Kubernetes allows it as a name. */
    @Test
    void namesThatLookLikeNumbersStayNames(@TempDir Path scratch) throws IOException {
        Path values = Files.writeString(scratch.resolve("values.yaml"), """
                {createNamespace: true, networks: {multus: {namespace: "1e3"}}, image: {pullSecrets: ["1e3"]},
                 webhook: {certManager: {enabled: true}}, monitoring: {podMonitor: {enabled: true},
                 rules: {enabled: true}, dashboard: {enabled: true}}}
                """);

        String rendered = Chart.template()
                .withName("1e3")
                .withNamespace("1e3")
                .withKubeVersion(Chart.RECENT)
                .withValuesFile(values)
                .call();

        assertThat(rendered.lines()).noneMatch(line -> line.endsWith(": 1e3"));
        assertThat(Chart.find(rendered, Deployment.class, "sidewarp-controller")
                        .getMetadata()
                        .getNamespace())
                .isEqualTo("1e3");
    }
}
