// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests on which nodes, and in which kinds of clusters, the chart's pods run. */
class PlacementTest {

    private static final String NOT_READY = "node.kubernetes.io/not-ready";
    private static final String UNREACHABLE = "node.kubernetes.io/unreachable";

    /**
     * Nodes with taints would count as nodes without a replica, and the second replica would wait for them for ever. Without
     * the hash of the template, an update would end with both new replicas on one node.
     */
    @Test
    void replicasOfOneVersionRunOnDifferentNodesOfThoseThatAcceptThem() {
        assertThat(controller(Chart.render("1.27.0")).getTopologySpreadConstraints())
                .singleElement()
                .satisfies(constraint -> {
                    assertThat(constraint.getTopologyKey()).isEqualTo("kubernetes.io/hostname");
                    assertThat(constraint.getWhenUnsatisfiable()).isEqualTo("DoNotSchedule");
                    assertThat(constraint.getMaxSkew()).isEqualTo(1);
                    assertThat(constraint.getMinDomains()).isNull();
                    assertThat(constraint.getNodeTaintsPolicy()).isEqualTo("Honor");
                    assertThat(constraint.getMatchLabelKeys()).containsExactly("pod-template-hash");
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {Chart.OLDEST, "1.26.15"})
    void replicasPreferDifferentNodesWhereTaintsCannotBeHonoured(String kubeVersion) {
        PodSpec controller = controller(Chart.render(kubeVersion));
        assertThat(controller.getTopologySpreadConstraints()).isEmpty();
        assertThat(controller.getAffinity().getPodAntiAffinity().getPreferredDuringSchedulingIgnoredDuringExecution())
                .hasSize(1);
    }

    @Test
    void replicasLeaveALostNodeSoonButForTheTimeThatTheUserSays(@TempDir Path scratch) throws IOException {
        assertThat(controller(Chart.render(Chart.RECENT)).getTolerations())
                .containsExactly(leavingAfter(NOT_READY, 30), leavingAfter(UNREACHABLE, 30));
        assertThat(controller(Chart.renderWith(Chart.RECENT, """
                controller:
                  tolerations:
                    - {key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}
                    - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 60}
                """, scratch)).getTolerations())
                .containsExactly(
                        new Toleration("NoSchedule", "node-role.kubernetes.io/control-plane", "Exists", null, null),
                        leavingAfter(UNREACHABLE, 60),
                        leavingAfter(NOT_READY, 30));
    }

    private static Toleration leavingAfter(String taint, long seconds) {
        return new Toleration("NoExecute", taint, "Exists", seconds, null);
    }

    @Test
    void agentsRunOnNoNodeThatIsNoMachine() {
        assertThat(agentTerms(Chart.render(Chart.RECENT)))
                .containsOnly(
                        entry("eks.amazonaws.com/compute-type", "NotIn [fargate]"),
                        entry("type", "NotIn [virtual-kubelet]"),
                        entry("node-role.kubernetes.io/virtual-node", "DoesNotExist []"),
                        entry("liqo.io/type", "NotIn [virtual-node]"));
    }

    @Test
    void usersChooseTheNodesOfAgents(@TempDir Path scratch) throws IOException {
        assertThat(agentTerms(Chart.renderWith(Chart.RECENT, """
                nodeAgent: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                  {matchExpressions: [{key: rdma, operator: Exists}]}]}}}}
                """, scratch))).containsOnly(entry("rdma", "Exists []"));
        assertThat(agent(Chart.renderWith(Chart.RECENT, "{nodeAgent: {affinity: {nodeAffinity: null}}}", scratch))
                        .getAffinity())
                .isNull();
    }

    private static Map<String, String> agentTerms(String rendered) {
        return agent(rendered)
                .getAffinity()
                .getNodeAffinity()
                .getRequiredDuringSchedulingIgnoredDuringExecution()
                .getNodeSelectorTerms()
                .getFirst()
                .getMatchExpressions()
                .stream()
                .collect(Collectors.toMap(
                        NodeSelectorRequirement::getKey,
                        expression -> expression.getOperator() + " " + expression.getValues()));
    }

    /** OpenShift refuses a user outside of the range of the namespace. */
    @Test
    void letsOpenShiftChooseTheUserOfTheController(@TempDir Path scratch) {
        PodSpec elsewhere = controller(Chart.render(Chart.RECENT));
        PodSpec there = controller(Chart.renderOnOpenShift(Chart.RECENT, scratch));

        assertThat(elsewhere.getSecurityContext().getRunAsUser()).isEqualTo(7471);
        assertThat(there.getSecurityContext().getRunAsUser()).isNull();
        assertThat(there.getSecurityContext().getRunAsGroup()).isNull();
        assertThat(there.getSecurityContext().getRunAsNonRoot()).isTrue();
    }

    @Test
    void givesTheNodeAgentOnOpenShiftWhatItsPodsUse(@TempDir Path scratch) {
        assertThat(Chart.names(Chart.render(Chart.RECENT))).doesNotContainKey("SecurityContextConstraints");
        String rendered = Chart.renderOnOpenShift(Chart.RECENT, scratch);
        GenericKubernetesResource constraints =
                Chart.find(rendered, GenericKubernetesResource.class, "sidewarp-node-agent");
        PodSpec agent = agent(rendered);

        assertThat(constraints.getKind()).isEqualTo("SecurityContextConstraints");
        assertThat(constraints.<List<String>>get("users"))
                .containsExactly("system:serviceaccount:" + Chart.NAMESPACE + ":" + agent.getServiceAccountName());
        assertThat(constraints.<Boolean>get("allowPrivilegedContainer")).isTrue();
        assertThat(constraints.<Boolean>get("allowHostNetwork")).isEqualTo(agent.getHostNetwork());
        assertThat(constraints.<Boolean>get("allowHostPID")).isEqualTo(Boolean.TRUE.equals(agent.getHostPID()));
        assertThat(constraints.<List<String>>get("volumes")).contains("projected");
        assertThat(agent.getVolumes()).allMatch(volume -> volume.getHostPath() != null || volume.getEmptyDir() != null);
    }

    @Test
    void isAPartOfAnotherChartUnderACondition(@TempDir Path scratch) throws IOException {
        assertThat(Chart.names(
                        Chart.renderAsPart(Chart.RECENT, "{global: {region: a}, sidewarp: {enabled: true}}", scratch)))
                .containsKeys("Deployment", "ConfigMap", "CustomResourceDefinition");
    }

    @Test
    void isLeftOutWhereTheConditionDoesNotHold(@TempDir Path scratch) throws IOException {
        assertThat(Chart.documents(Chart.renderAsPart(Chart.RECENT, "{sidewarp: {enabled: false}}", scratch)))
                .isEmpty();
    }

    private static PodSpec controller(String rendered) {
        return Chart.find(rendered, Deployment.class, "sidewarp-controller")
                .getSpec()
                .getTemplate()
                .getSpec();
    }

    private static PodSpec agent(String rendered) {
        String agent = Chart.find(rendered, ConfigMap.class, "sidewarp-operator")
                .getData()
                .get("node-agent.yaml");
        return ((DaemonSet) Chart.parse(agent)).getSpec().getTemplate().getSpec();
    }
}
