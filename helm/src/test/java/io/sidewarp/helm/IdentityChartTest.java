// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the part of the chart for identities of sidecars. */
class IdentityChartTest {

    @Test
    void leadsSidecarsToTheController() {
        String rendered = Chart.render(Chart.RECENT, "identity.port=9555");
        Deployment controller = Chart.find(rendered, Deployment.class, "sidewarp-controller");
        Service service = Chart.find(rendered, Service.class, "sidewarp-identity");

        assertThat(controller.getSpec().getTemplate().getMetadata().getLabels())
                .containsAllEntriesOf(service.getSpec().getSelector());
        assertThat(service.getSpec().getPorts()).singleElement().satisfies(port -> {
            assertThat(port.getPort()).isEqualTo(443);
            assertThat(port.getTargetPort().getStrVal()).isEqualTo("identity");
        });
        assertThat(ports(controller))
                .extracting(ContainerPort::getContainerPort)
                .contains(9555);
        assertThat(rendered)
                .contains("- name: SIDEWARP_OPERATOR_IDENTITY_PORT\n              value: \"9555\"")
                .contains("- name: SIDEWARP_OPERATOR_IDENTITY_TRUST_DOMAIN\n              value: \"cluster.local\"")
                .contains("- name: SIDEWARP_OPERATOR_IDENTITY_CERTIFICATE_VALIDITY\n              value: \"1h\"");
        assertThat(policyPorts(rendered)).contains("identity");
    }

    @Test
    void mayCheckTokensAndReadItsSecretOnly() {
        String rendered = Chart.render(Chart.RECENT);

        assertThat(Chart.find(rendered, ClusterRole.class, "sidewarp-controller")
                        .getRules())
                .filteredOn(rule -> rule.getResources().contains("tokenreviews"))
                .singleElement()
                .satisfies(rule -> assertThat(rule.getVerbs()).containsExactly("create"));
        assertThat(secretNames(rendered)).containsExactly("sidewarp-webhook-certificate", "sidewarp-identity-ca");
    }

    @Test
    void hasNothingForIdentitiesWhereTheyAreSwitchedOff() {
        String rendered = Chart.render(Chart.RECENT, "identity.enabled=false");

        assertThat(Chart.names(rendered).get("Service")).doesNotContain("sidewarp-identity");
        assertThat(ports(Chart.find(rendered, Deployment.class, "sidewarp-controller")))
                .extracting(ContainerPort::getName)
                .doesNotContain("identity");
        assertThat(policyPorts(rendered)).doesNotContain("identity");
        assertThat(rendered)
                .doesNotContain("tokenreviews")
                .contains("- name: SIDEWARP_OPERATOR_IDENTITY_ENABLED\n              value: \"false\"");
        assertThat(secretNames(rendered)).containsExactly("sidewarp-webhook-certificate");
    }

    private static List<ContainerPort> ports(Deployment controller) {
        return controller
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst()
                .getPorts();
    }

    private static List<String> policyPorts(String rendered) {
        return Chart.find(rendered, NetworkPolicy.class, "sidewarp-controller").getSpec().getIngress().stream()
                .flatMap(rule -> rule.getPorts().stream())
                .map(port -> port.getPort().getStrVal())
                .toList();
    }

    private static List<String> secretNames(String rendered) {
        return Chart.find(rendered, Role.class, "sidewarp-controller").getRules().stream()
                .filter(rule -> rule.getResources().contains("secrets"))
                .flatMap(rule -> rule.getResourceNames().stream())
                .toList();
    }
}
