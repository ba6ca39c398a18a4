// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import io.sidewarp.operator.api.v1alpha1.Fallback;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Settings of the controller. The chart sets them from its values. */
@ConfigMapping(prefix = "sidewarp.operator")
public interface OperatorConfig {
    /** Namespace that the operator runs in. */
    @WithDefault("${POD_NAMESPACE:sidewarp-system}")
    String namespace();

    /** Version of the operator, which injected pods are annotated with. */
    @WithDefault("${quarkus.application.version}")
    String version();

    /** Image of sidecars, where a profile does not name one. */
    @WithDefault("sidewarp/sidecar:${quarkus.application.version}")
    String sidecarImage();

    /** ConfigMap of the chart that has the node agent, which the controller creates. */
    @WithDefault("sidewarp-operator")
    String installation();

    /** Deployment of the controller, which the clean-up stops at its end. */
    @WithDefault("sidewarp-controller")
    String deployment();

    /**
     * How long a deleted policy, and uninstalling, wait for nodes that do not answer or whose pods use what has to go. Agents
     * that are there go on trying. And how long virtual functions of the SR-IOV network operator stay for a node that has not
     * reported its NICs.
     */
    @WithDefault("10m")
    Duration restoreTimeout();

    /** Least time between two writes of a policy's status while its specification stays as it is. */
    @WithDefault("2s")
    Duration policyStatusInterval();

    /** How long to wait before the API server is tried again, at the start. */
    @WithDefault("5s")
    Duration apiServerRetry();

    /** The injection webhook. */
    Webhook webhook();

    /** Nodes that no policy selects. */
    Unselected unselected();

    /** Use of the SR-IOV network operator. */
    Sriov sriov();

    /** Use of Multus. */
    Multus multus();

    /** Choice of the one replica that reconciles. */
    LeaderElection leaderElection();

    /** Settings of the injection webhook. */
    interface Webhook {
        /** Address to listen at. */
        @WithDefault("0.0.0.0")
        String host();

        /** Port to listen at, 0 for any free one. */
        @WithDefault("9443")
        int port();

        /** Connections to it. One more takes the place of the one that keeps it waiting longest. */
        @WithDefault("512")
        int connections();

        /** Octets of reviews that are not decided about and of answers that are not read yet, of all connections together. */
        @WithDefault("33554432")
        long pendingOctets();

        /** How long a request may take to arrive, that of a new connection with its handshake, and an answer to be read. */
        @WithDefault("10s")
        Duration requestTimeout();

        /** How long a connection may be without a request. Longer than the API server keeps one, which is 90 s. */
        @WithDefault("2m")
        Duration idleTimeout();

        /** How long it goes on once the program is to end, while API servers do not know yet that it does. */
        @WithDefault("5s")
        Duration shutdownDelay();

        /** Service in front of it; the certificate is made out to it. */
        @WithDefault("sidewarp-webhook")
        String service();

        /** Where the API server calls it, if not through its Service; the certificate is made out to that host too. */
        Optional<URI> url();

        /** MutatingWebhookConfiguration of the chart, which tells the API server of it. */
        @WithDefault("sidewarp-webhook")
        String configuration();

        /** Secret with {@code tls.crt}, {@code tls.key} and {@code ca.crt}. */
        @WithDefault("sidewarp-webhook-certificate")
        String certificateSecret();

        /** Whether the operator makes and rotates that, or somebody else does, for instance cert-manager. */
        @WithDefault("true")
        boolean manageCertificate();

        /** How long a certificate is valid that the operator makes. It is replaced when a third of that is left. */
        @WithDefault("365d")
        Duration certificateValidity();

        /** How long the API server has to hear of the authority of a new certificate, before that is served. */
        @WithDefault("5s")
        Duration certificateSwitchDelay();

        /** Additional names or IP addresses that the certificate is made out to; one that lacks any of them is replaced. */
        Optional<List<String>> certificateNames();
    }

    /** What nodes offer that no policy selects. */
    interface Unselected {
        /** In which order; set and empty: nothing. */
        @WithDefault("SOFTWARE")
        Optional<List<Fallback>> fallback();

        /** How many soft devices. */
        @WithDefault("256")
        int softwareDevices();

        /** How many shares of a siw device. */
        @WithDefault("64")
        int siwDevices();
    }

    /** Settings of the use of the SR-IOV network operator. */
    interface Sriov {
        /**
         * Whether it makes virtual functions where it is installed and policies leave the choice; otherwise the node agents
         * do, and what was written for it before is removed.
         */
        @WithDefault("true")
        boolean enabled();

        /**
         * Namespace that it runs in, the only one whose SriovNetworkNodePolicies it carries out. What was written in another
         * one before is removed.
         */
        @WithDefault("sriov-network-operator")
        String namespace();

        /** Prefix of the extended resources of its device plugin ({@code RESOURCE_PREFIX} of that operator). */
        @WithDefault("openshift.io")
        String resourcePrefix();
    }

    /** Settings of the use of Multus. */
    interface Multus {
        /** Whether policies can have networks. If not, those that were written before are removed. */
        @WithDefault("true")
        boolean enabled();

        /** Namespace of the networks. Where Multus isolates namespaces, pods of all others may use those of this one. */
        @WithDefault("default")
        String namespace();
    }

    /** Settings of the leader election. */
    interface LeaderElection {
        /** Name of the lease. */
        @WithDefault("sidewarp-controller")
        String lease();

        /** How long a leader that does not renew its lease remains the leader. */
        @WithDefault("15s")
        Duration duration();
    }
}
