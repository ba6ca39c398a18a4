// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCapacity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.testing.KubeUnavailableException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A cluster that the chart is installed into. All objects that tests create have generated names, so tests neither
 * change nor delete objects of others.
 */
interface TestCluster extends AutoCloseable {

    /** End of the names of namespaces. */
    String SUFFIX = UUID.randomUUID().toString().substring(0, 8);

    /** Namespace of the release. */
    String NAMESPACE = "sidewarp-e2e-" + SUFFIX;

    /** Namespace of applications. */
    String APPLICATIONS = "shop-e2e-" + SUFFIX;

    /** Label of nodes, set by their kubelets, that policies of the tests select. */
    String HOSTNAME_LABEL = "kubernetes.io/hostname";

    /**
     * That of the environment variable {@code KUBECONFIG}, whose nodes run pods; without it, an API server is started, and
     * processes and stand-ins do what nodes would.
     *
     * @throws KubeUnavailableException if this machine has no programs for an API server
     */
    static TestCluster start() {
        return KubeconfigCluster.isAtHand() ? new KubeconfigCluster() : new ProcessCluster();
    }

    /** Describes this cluster for the transcript. */
    String description();

    KubernetesClient client();

    Path kubeconfig();

    /** Names of the nodes. */
    List<String> nodes();

    /** Returns the values that the chart needs for this cluster. */
    Map<String, Object> chartValues();

    /** An image for the containers of applications, which has the command {@code sidewarp}. */
    String applicationImage();

    /** Returns whether applications run in this cluster. */
    boolean runsApplications();

    /** Returns the number of devices {@code sidewarp.io/rnic} that the device plugin of a node offers. */
    int pluginDevices(String node);

    /** Returns the number of devices that a node offers, by the device plugin or to ResourceClaims. */
    default int deviceCount(String node) {
        return pluginDevices(node) + claimDevices(node);
    }

    private int claimDevices(String node) {
        if (!client().supports(ResourceSlice.class)) {
            return 0;
        }
        return client().resources(ResourceSlice.class).list().getItems().stream()
                .map(ResourceSlice::getSpec)
                .filter(slice -> SidewarpApi.RNIC_DRIVER.equals(slice.getDriver()) && node.equals(slice.getNodeName()))
                .flatMap(slice -> slice.getDevices().stream())
                .mapToInt(TestCluster::shares)
                .sum();
    }

    private static int shares(Device device) {
        DeviceCapacity shares =
                device.getCapacity() == null ? null : device.getCapacity().get("shares");
        return shares == null ? 1 : shares.getValue().getNumericalAmount().intValue();
    }

    /** The certificate with which the webhook answers. */
    X509Certificate servedCertificate();

    /** Does something while there is no API server. A cluster where that cannot be arranged aborts the test. */
    void withoutApiServer(Runnable action);

    /**
     * Kills the processes of a container without a word to Kubernetes. A cluster where that cannot be arranged aborts the
     * test.
     *
     * @param id as the status of a pod has it, such as {@code containerd://0123}
     */
    void killContainer(String node, String id);

    /** Restarts the kubelet of a node. A cluster where that cannot be arranged aborts the test. */
    void restartKubelet(String node);

    /** Stops all that was started, and removes what was written besides the release. */
    @Override
    void close();
}
