// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import io.sidewarp.operator.api.v1alpha1.Fallback;
import io.sidewarp.operator.api.v1alpha1.IdentitySource;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Settings of the controller. The chart sets them from its values. */
@ConfigMapping(prefix = "sidewarp.operator")
public interface OperatorConfig {

    /** Name under which the controller writes objects, events and traces. */
    String MANAGER = "sidewarp-controller";

    /** Label of the objects that the controller creates. The value is {@link #MANAGER}. */
    String MANAGED_LABEL = "app.kubernetes.io/managed-by";
    /** Namespace that the operator runs in. */
    @WithDefault("${POD_NAMESPACE:sidewarp-system}")
    String namespace();

    /** Version of the operator, which the annotation of injected pods contains. */
    @WithDefault("${quarkus.application.version}")
    String version();

    /** Image of sidecars, for profiles that name no image. */
    @WithDefault("sidewarp/sidecar:${quarkus.application.version}")
    String sidecarImage();

    /** ConfigMap of the chart with the definition of the node agent, which the controller creates. */
    @WithDefault("sidewarp-operator")
    String installation();

    /** Deployment of the controller, which the clean-up stops as its last step. */
    @WithDefault("sidewarp-controller")
    String deployment();

    /**
     * Time that a deleted policy and the uninstallation wait for nodes. A node is waited for if it does not answer, or
     * if its pods still use a device that must be removed. Running agents continue to try after that time. The same
     * time limits how long virtual functions of the SR-IOV network operator stay for a node that has not reported its
     * NICs.
     */
    @WithDefault("10m")
    Duration restoreTimeout();

    /** Minimum time between two writes of a policy's status while its specification does not change. */
    @WithDefault("2s")
    Duration policyStatusInterval();

    /** Time before the next attempt to reach the API server at the start. */
    @WithDefault("5s")
    Duration apiServerRetry();

    /** Flag: the controller serves the status page, to browsers on the same host only. */
    @WithDefault("true")
    boolean statusPage();

    /** The injection webhook. */
    Webhook webhook();

    /** Identities of sidecars, and the CA that signs them. */
    Identity identity();

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

        /**
         * Largest number of connections. A new connection above it replaces the connection that has kept the webhook
         * waiting longest.
         */
        @WithDefault("512")
        int connections();

        /** Largest number of bytes of undecided reviews and unread answers, over all connections. */
        @WithDefault("33554432")
        long pendingOctets();

        /** Time for a request to arrive, and for an answer to be read. The first request includes the TLS handshake. */
        @WithDefault("10s")
        Duration requestTimeout();

        /**
         * Largest time of a connection without a request. It must be longer than the keep-alive time of the API server,
         * which is 90 s.
         */
        @WithDefault("2m")
        Duration idleTimeout();

        /**
         * Time for which the webhook continues to serve after a shutdown begins, while API servers do not know about
         * the shutdown yet.
         */
        @WithDefault("5s")
        Duration shutdownDelay();

        /** Service in front of the webhook. The certificate contains its name. */
        @WithDefault("sidewarp-webhook")
        String service();

        /**
         * URL at which the API server calls the webhook, if not through the Service. The certificate contains its host
         * too.
         */
        Optional<URI> url();

        /** MutatingWebhookConfiguration of the chart, which registers the webhook with the API server. */
        @WithDefault("sidewarp-webhook")
        String configuration();

        /** Secret with {@code tls.crt}, {@code tls.key} and {@code ca.crt}. */
        @WithDefault("sidewarp-webhook-certificate")
        String certificateSecret();

        /**
         * Flag: the operator creates and rotates the certificate. If false, somebody else does, for instance
         * cert-manager.
         */
        @WithDefault("true")
        boolean manageCertificate();

        /**
         * Validity of the certificates that the operator creates. A certificate is replaced when a third of its
         * validity is left.
         */
        @WithDefault("365d")
        Duration certificateValidity();

        /**
         * Time between the publication of a new certificate's authority and the use of the certificate. The API server
         * needs the time to notice the authority.
         */
        @WithDefault("5s")
        Duration certificateSwitchDelay();

        /** Additional names or IP addresses in the certificate. A certificate that lacks any of them is replaced. */
        Optional<List<String>> certificateNames();
    }

    /** Settings of sidecars' identities, of the CA, and of the service that signs their certificates. */
    interface Identity {
        /** Source for profiles that name none. Unset: such profiles cannot use TLS. */
        Optional<IdentitySource> source();

        /** Flag: the controller has a CA, and signs certificates of sidecars. */
        @WithDefault("true")
        boolean enabled();

        /** Trust domain of the SPIFFE IDs. */
        @WithDefault("cluster.local")
        String trustDomain();

        /** Address to listen at. */
        @WithDefault("0.0.0.0")
        String host();

        /** Port to listen at, 0 for any free one. */
        @WithDefault("9444")
        int port();

        /** Service in front of the identity service. The server's certificate contains its name. */
        @WithDefault("sidewarp-identity")
        String service();

        /**
         * Largest number of connections. A further one replaces the one that has been waited for longest. A connection
         * takes about 100 KB of the heap.
         */
        @WithDefault("512")
        int connections();

        /** Additional names or IP addresses in the certificate of the identity service. */
        Optional<List<String>> certificateNames();

        /** Secret with the CAs: {@code ca.crt} and {@code ca.key}. */
        @WithDefault("sidewarp-identity-ca")
        String secret();

        /** Validity of sidecars' certificates. A sidecar renews its certificate after two thirds of the validity. */
        @WithDefault("1h")
        Duration certificateValidity();

        /**
         * Validity of a CA. The next CA is published after a half, and signs after three quarters. A sidecar that
         * starts again later than half of the validity after its pod was created may have no CA that is still valid.
         */
        @WithDefault("730d")
        Duration caValidity();
    }

    /** Devices of nodes that no policy selects. */
    interface Unselected {
        /** Kinds of devices, in order of preference. An empty list means that the nodes offer nothing. */
        @WithDefault("SOFTWARE")
        Optional<List<Fallback>> fallback();

        /** Number of soft devices. */
        @WithDefault("256")
        int softwareDevices();

        /** Number of shares of a siw device. */
        @WithDefault("64")
        int siwDevices();
    }

    /** Settings of the use of the SR-IOV network operator. */
    interface Sriov {
        /**
         * Flag: the SR-IOV network operator, where installed, creates virtual functions for policies that leave the
         * choice. If false, the node agents create them, and everything written for that operator before is removed.
         */
        @WithDefault("true")
        boolean enabled();

        /**
         * Namespace of the SR-IOV network operator. That operator carries out SriovNetworkNodePolicies of this
         * namespace only. Policies written in another namespace before are removed.
         */
        @WithDefault("sriov-network-operator")
        String namespace();

        /** Prefix of the extended resources of its device plugin ({@code RESOURCE_PREFIX} of that operator). */
        @WithDefault("openshift.io")
        String resourcePrefix();
    }

    /** Settings of the use of Multus. */
    interface Multus {
        /** Flag: policies can have networks. If false, networks that were written before are removed. */
        @WithDefault("true")
        boolean enabled();

        /**
         * Namespace of the networks. Even if Multus isolates namespaces, pods of all other namespaces may use the
         * networks of {@code default}.
         */
        @WithDefault("default")
        String namespace();
    }

    /** Settings of the leader election. */
    interface LeaderElection {
        /** Name of the lease. */
        @WithDefault("sidewarp-controller")
        String lease();

        /** Time for which a leader that does not renew its lease remains the leader. */
        @WithDefault("15s")
        Duration duration();
    }
}
