// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.testing.KubeUnavailableException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;

/** A cluster that the chart is installed into. */
interface TestCluster extends AutoCloseable {

    /** Namespace of the release. */
    String NAMESPACE = "sidewarp-system";

    /** Label of nodes that policies of the tests select: each has another value, from {@code 0} on. */
    String NUMBER_LABEL = "e2e.sidewarp.io/number";

    /**
     * That of the environment variable {@code KUBECONFIG}, whose nodes run pods; without it, an API server is started, and
     * processes and stand-ins do what nodes would.
     *
     * @throws KubeUnavailableException if this machine has no programs for an API server
     */
    static TestCluster start() {
        return KubeconfigCluster.isAtHand() ? new KubeconfigCluster() : new ProcessCluster();
    }

    /** What it is, for the transcript. */
    String description();

    KubernetesClient client();

    Path kubeconfig();

    /** Names of the nodes, in the order of their {@link #NUMBER_LABEL}. */
    List<String> nodes();

    /** What the chart has to know about it. */
    Map<String, Object> chartValues();

    /** An image for the containers of applications, which has the command {@code sidewarp}. */
    String applicationImage();

    /** Whether applications run. */
    boolean runsApplications();

    /** How many devices {@code sidewarp.io/rnic} the kubelet of a node can give. */
    int deviceCount(String node);

    /** The certificate with which the webhook answers. */
    X509Certificate servedCertificate();

    /** Does something while there is no API server. A cluster where that cannot be arranged aborts the test. */
    void withoutApiServer(Runnable action);

    /** Stops all that was started, and removes what was written besides the release. */
    @Override
    void close();
}
