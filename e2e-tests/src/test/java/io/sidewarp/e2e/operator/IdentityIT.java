// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.testing.CustomResourceDefinitions;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests identities of the controller's CA: packaged controller and sidecars, and tokens of a real API server. */
@ExtendWith(Logs.class)
@RealApiServer
class IdentityIT {
    private static final String SYSTEM = "sidewarp-system";
    private static final String SHOP = "shop";
    private static final Set<String> PERMISSIONS =
            Set.of("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding");

    private final int issuerPort = Ports.free();

    @Test
    void sidecarsOfTwoPodsAuthenticateEachOtherAlsoWhileTheControllerIsAway(KubeApiServer server) throws IOException {
        KubernetesClient client = server.client();
        namespace(client, SYSTEM);
        namespace(client, SHOP);
        for (String plural : List.of("iwarpnicpolicies", "iwarpnodes", "sidecarprofiles")) {
            CustomResourceDefinitions.install(
                    client,
                    Objects.requireNonNull(
                            SidecarProfile.class.getResource("/META-INF/fabric8/" + plural + ".sidewarp.io-v1.yml")));
        }
        permissions(client);

        try (OwnedProcess controller = controller(server)) {
            Patience.await("the controller signs")
                    .until(() -> controller.text().contains("event=identity-service-listening"));
            Secret secret = client.secrets()
                    .inNamespace(SYSTEM)
                    .withName("sidewarp-identity-ca")
                    .get();
            String bundle =
                    new String(Base64.getDecoder().decode(secret.getData().get("ca.crt")), StandardCharsets.US_ASCII);
            try (SidecarProcess cart = sidecar(client, "cart", bundle);
                    SidecarProcess store = sidecar(client, "store", bundle);
                    SidewarpClient cartClient = cart.client();
                    SidewarpClient storeClient = store.client();
                    Session from = cartClient.openSession("cart");
                    Session to = storeClient.openSession("store")) {
                assertAuthenticated(from, to);
                assertThat(controller.text())
                        .contains("event=identity-issued id=spiffe://cluster.local/ns/shop/sa/cart");

                controller.kill();
                controller.awaitExit();
                assertAuthenticated(from, to);
            }
        }
    }

    private static void assertAuthenticated(Session from, Session to) {
        Link link = Link.connect(from, ConnectionOptions.defaults(), to, ConnectionOptions.defaults());
        assertThat(link.initiator().peerIdentity()).contains("spiffe://cluster.local/ns/shop/sa/store");
        assertThat(link.responder().peerIdentity()).contains("spiffe://cluster.local/ns/shop/sa/cart");
        link.initiator().disconnect();
    }

    private static void namespace(KubernetesClient client, String name) {
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .build())
                .create();
    }

    /** Gives the controller the permissions of the chart, and no others. */
    private static void permissions(KubernetesClient client) throws IOException {
        try (InputStream install = Files.newInputStream(Programs.root().resolve("manifests/install.yaml"))) {
            for (HasMetadata object : client.load(install).items()) {
                if (PERMISSIONS.contains(object.getKind())) {
                    client.resource(object).create();
                }
            }
        }
    }

    private OwnedProcess controller(KubeApiServer server) {
        List<String> command = new ArrayList<>(List.of(Programs.java()));
        command.addAll(Programs.jvmFlags());
        command.addAll(List.of(
                "-Xmx128m",
                "-jar",
                Programs.root()
                        .resolve("operator/controller/target/quarkus-app/quarkus-run.jar")
                        .toString()));
        return OwnedProcess.start(
                "controller",
                command,
                Map.of(
                        "KUBECONFIG",
                        server.kubeconfigForServiceAccount(SYSTEM, "sidewarp-controller")
                                .toString(),
                        "POD_NAMESPACE",
                        SYSTEM,
                        "QUARKUS_HTTP_HOST",
                        Link.LOOPBACK,
                        "QUARKUS_HTTP_PORT",
                        Integer.toString(Ports.free()),
                        "SIDEWARP_OPERATOR_WEBHOOK_HOST",
                        Link.LOOPBACK,
                        "SIDEWARP_OPERATOR_WEBHOOK_PORT",
                        Integer.toString(Ports.free()),
                        "SIDEWARP_OPERATOR_IDENTITY_HOST",
                        Link.LOOPBACK,
                        "SIDEWARP_OPERATOR_IDENTITY_PORT",
                        Integer.toString(issuerPort),
                        "SIDEWARP_OPERATOR_IDENTITY_CERTIFICATE_NAMES",
                        "localhost"),
                Programs.output());
    }

    private SidecarProcess sidecar(KubernetesClient client, String account, String bundle) throws IOException {
        Path directory = Directories.temporary("token-" + account);
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("token"), token(client, account), StandardCharsets.US_ASCII);
        return SidecarProcess.with(account)
                .set("sidewarp.identity.source", "builtin")
                .set("sidewarp.identity.directory", directory.toString())
                .set("sidewarp.identity.issuer", "https://localhost:" + issuerPort)
                .set("sidewarp.identity.trust-bundle", bundle)
                .set("sidewarp.connection.security", "required")
                .start();
    }

    /** Creates a pod with a service account, and returns a token as the kubelet projects it into the pod. */
    private static String token(KubernetesClient client, String account) {
        client.resource(new ServiceAccountBuilder()
                        .withNewMetadata()
                        .withNamespace(SHOP)
                        .withName(account)
                        .endMetadata()
                        .build())
                .create();
        Pod pod = client.resource(new PodBuilder()
                        .withNewMetadata()
                        .withNamespace(SHOP)
                        .withName(account)
                        .endMetadata()
                        .withNewSpec()
                        .withServiceAccountName(account)
                        .addNewContainer()
                        .withName("application")
                        .withImage("example")
                        .endContainer()
                        .endSpec()
                        .build())
                .create();
        return client.serviceAccounts()
                .inNamespace(SHOP)
                .withName(account)
                .tokenRequest(new TokenRequestBuilder()
                        .withNewSpec()
                        .withAudiences("sidewarp")
                        .withNewBoundObjectRef()
                        .withApiVersion("v1")
                        .withKind("Pod")
                        .withName(account)
                        .withUid(pod.getMetadata().getUid())
                        .endBoundObjectRef()
                        .endSpec()
                        .build())
                .getStatus()
                .getToken();
    }
}
