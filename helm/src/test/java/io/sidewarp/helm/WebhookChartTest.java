// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the webhook of the rendered chart, and its certificate. */
class WebhookChartTest {

    @Test
    void asksTheWebhookAboutPodsThatWantASidecarOnly() {
        MutatingWebhookConfiguration configuration = webhook(Chart.render(Chart.RECENT));
        assertThat(configuration.getWebhooks())
                .extracting(MutatingWebhook::getFailurePolicy)
                .containsExactly("Fail", "Fail", "Ignore");
        assertThat(configuration.getWebhooks()).allSatisfy(webhook -> {
            assertThat(webhook.getSideEffects()).isEqualTo("NoneOnDryRun");
            assertThat(webhook.getReinvocationPolicy()).isEqualTo("IfNeeded");
            assertThat(webhook.getClientConfig().getService().getPath()).isEqualTo("/mutate-pods");
        });
        MutatingWebhook byAnnotation = configuration.getWebhooks().get(1);
        assertThat(byAnnotation.getMatchConditions().getFirst().getExpression()).contains("sidewarp.io/inject");
        assertThat(byAnnotation.getNamespaceSelector().getMatchExpressions())
                .anySatisfy(expression -> assertThat(expression.getValues()).contains("kube-system", Chart.NAMESPACE));
    }

    /** Without the call, the authors of these pods would not learn why they get no sidecar. */
    @Test
    void asksTheWebhookAboutPodsThatWantASidecarWhereItIsForbidden() {
        MutatingWebhook forbidden =
                webhook(Chart.render(Chart.RECENT)).getWebhooks().getLast();
        assertThat(forbidden.getMatchConditions())
                .singleElement()
                .satisfies(condition -> assertThat(condition.getExpression()).contains("sidewarp.io/inject"));
        assertThat(forbidden.getNamespaceSelector().getMatchExpressions())
                .anySatisfy(expression -> {
                    assertThat(expression.getKey()).isEqualTo("sidewarp.io/inject");
                    assertThat(expression.getOperator()).isEqualTo("In");
                    assertThat(expression.getValues()).containsExactly("disabled", "false");
                })
                .anySatisfy(expression -> assertThat(expression.getValues()).contains("kube-system", Chart.NAMESPACE));
    }

    @ParameterizedTest
    @ValueSource(strings = {Chart.OLDEST, Chart.RECENT})
    void theOperatorsOwnPodsNeedNoWebhookThoughTheirNamespaceHasTheLabel(String kubeVersion) {
        assertThat(webhook(Chart.render(kubeVersion)).getWebhooks())
                .isNotEmpty()
                .allSatisfy(webhook -> assertThat(webhook.getNamespaceSelector().getMatchExpressions())
                        .filteredOn(expression -> expression.getKey().equals("kubernetes.io/metadata.name"))
                        .singleElement()
                        .satisfies(expression -> {
                            assertThat(expression.getOperator()).isEqualTo("NotIn");
                            assertThat(expression.getValues()).contains(Chart.NAMESPACE);
                        }));
    }

    @Test
    void neverMakesOtherPodsDependOnTheWebhookWhereTheApiServerCannotTellThem() {
        MutatingWebhookConfiguration configuration = webhook(Chart.render("1.27.9"));
        assertThat(configuration.getWebhooks()).extracting("failurePolicy").containsExactly("Fail", "Ignore");
        assertThat(configuration.getWebhooks().getLast().getMatchConditions()).isEmpty();
    }

    @Test
    void hasTheAnnotationsAndLabelsOfTheUserBesideItsOwn(@TempDir Path scratch) throws IOException {
        ObjectMeta metadata =
                webhook(Chart.renderWith(Chart.RECENT, """
                webhook:
                  annotations: {admissions.enforcer/disabled: "true"}
                  labels: {team: rdma, app.kubernetes.io/component: other}
                """, scratch)).getMetadata();

        assertThat(metadata.getAnnotations()).containsExactly(Map.entry("admissions.enforcer/disabled", "true"));
        assertThat(metadata.getLabels())
                .containsEntry("team", "rdma")
                .containsEntry("app.kubernetes.io/component", "controller");
    }

    @Test
    void failsOpenOrClosedAsTold() {
        assertThat(webhook(Chart.render(Chart.RECENT, "webhook.failurePolicy=Ignore"))
                        .getWebhooks())
                .extracting("failurePolicy")
                .containsExactly("Ignore", "Ignore", "Ignore");
        assertThat(webhook(Chart.render(Chart.OLDEST, "webhook.annotatedPodsFailurePolicy=Fail"))
                        .getWebhooks())
                .extracting("failurePolicy")
                .containsExactly("Fail", "Fail");
    }

    @Test
    void leavesTheCertificateToCertManagerOnRequest() {
        String rendered = Chart.render(Chart.RECENT, "webhook.certManager.enabled=true");
        assertThat(Chart.names(rendered)).containsKeys("Certificate", "Issuer");
        assertThat(rendered).containsPattern("MANAGE_CERTIFICATE\n +value: \"false\"");
    }

    @ParameterizedTest
    @CsvSource({
        "https://10.0.0.1:9443/mutate-pods, , 10.0.0.1",
        "https://[fd00::1]:9443/mutate-pods, , fd00::1",
        "https://webhook.example.com/mutate-pods, webhook.example.com, ",
        "'', , ",
    })
    void theCertificateOfCertManagerIsAlsoForTheHostThatTheApiServerCalls(String url, String name, String address) {
        String rendered = Chart.render(Chart.RECENT, "webhook.certManager.enabled=true", "webhook.url=" + url);
        List<String> names = new ArrayList<>(List.of(
                "sidewarp-webhook." + Chart.NAMESPACE + ".svc",
                "sidewarp-webhook." + Chart.NAMESPACE + ".svc.cluster.local"));
        if (name != null) {
            names.add(name);
        }

        assertThat(Chart.objects(rendered))
                .filteredOn(object -> object.getKind().equals("Certificate"))
                .singleElement(type(GenericKubernetesResource.class))
                .satisfies(certificate -> {
                    assertThat(certificate.<List<String>>get("spec", "dnsNames"))
                            .isEqualTo(names);
                    assertThat(certificate.<List<String>>get("spec", "ipAddresses"))
                            .isEqualTo(address == null ? null : List.of(address));
                });
    }

    private static MutatingWebhookConfiguration webhook(String rendered) {
        return Chart.find(rendered, MutatingWebhookConfiguration.class, "sidewarp-webhook");
    }
}
