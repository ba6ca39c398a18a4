// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A real API server on the loopback interface, with its own etcd, certificate authority and empty data. Authorization
 * is RBAC. The server can call webhooks of the test by a URL at 127.0.0.1 (see {@link
 * CertificateAuthority#issueServer}).
 *
 * <p>Without a controller manager, nothing reacts to written objects: deleted namespaces stay, owned objects are not
 * collected, DaemonSets make no pods, and pods are admitted without a service account.
 *
 * <p>The logs of the programs are in {@link #logs} and stay there after the server is closed.
 */
public final class KubeApiServer implements AutoCloseable {

    /** Maximum time for a start, which takes 5 to 10 seconds on an idle machine. */
    private static final Duration START_LIMIT = Duration.ofMinutes(3);

    private static final Duration REQUEST_LIMIT = Duration.ofSeconds(10);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    /**
     * First port of the range to choose from. The range is below the ports that Linux gives to clients. Otherwise a
     * client could take the port while the API server is stopped.
     */
    private static final int FIRST_PORT = 20_000;

    private static final int LAST_PORT = 32_000;

    /** The last version of the controller manager with a plain-text port, which has to be disabled. */
    private static final int LAST_MINOR_WITH_PLAIN_TEXT = 23;

    private static final String LOOPBACK = "127.0.0.1";
    private static final String ISSUER = "https://kubernetes.default.svc";
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final KubePrograms programs;
    private final ScratchDirectory scratch;
    private final Path directory;
    private final Path logs;
    private final CertificateAuthority authority = CertificateAuthority.create("sidewarp-test");
    private final int port = freePort();
    private final int etcdPort = freePort();
    private final boolean withControllers;
    private final HttpClient probe;
    private final Path kubeconfig;
    private final AtomicInteger identities = new AtomicInteger();
    private final List<KubernetesClient> clients = new ArrayList<>();

    private @Nullable ServerProcess etcd;
    private @Nullable ServerProcess apiServer;
    private @Nullable ServerProcess controllerManager;
    private @Nullable KubernetesClient admin;

    private KubeApiServer(boolean withControllers) throws IOException {
        this.programs = KubePrograms.find();
        this.withControllers = withControllers;
        this.scratch = ScratchDirectory.create(Path.of(System.getProperty("java.io.tmpdir")), "sidewarp-kube-");
        this.directory = scratch.path();
        Path target = Path.of("target").toAbsolutePath();
        this.logs = Files.createDirectories((Files.isDirectory(target) ? target : directory)
                .resolve("kube")
                .resolve(ProcessHandle.current().pid() + "-" + NUMBER.incrementAndGet()));
        CertificateAuthority.Identity identity = authority.issueClient("sidewarp-test-admin", "system:masters");
        this.kubeconfig = Kubeconfig.write(directory.resolve("admin.kubeconfig"), port, authority, identity);
        this.probe = HttpClient.newBuilder()
                .sslContext(identity.sslContext())
                .connectTimeout(REQUEST_LIMIT)
                .build();
    }

    /**
     * Starts an API server alone.
     *
     * @throws KubeUnavailableException if this machine has no programs for it
     */
    public static KubeApiServer start() {
        return start(false);
    }

    /**
     * Starts an API server and a controller manager.
     *
     * @throws KubeUnavailableException if this machine has no programs for it
     */
    public static KubeApiServer startWithControllerManager() {
        return start(true);
    }

    static KubeApiServer start(boolean withControllers) {
        KubeApiServer server;
        try {
            server = new KubeApiServer(withControllers);
        } catch (IOException e) {
            throw new UncheckedIOException("no API server can be started", e);
        }
        try {
            server.writeCertificates();
            server.startEtcd();
            server.startApiServer();
            if (withControllers) {
                server.startControllerManager();
            }
            return server;
        } catch (RuntimeException | Error e) {
            try (server) {
                throw e;
            }
        }
    }

    private void writeCertificates() {
        CertificateAuthority.Identity identity = authority.issueServer(LOOPBACK, "localhost");
        KeyPair serviceAccounts = CertificateAuthority.newKeys();
        write("ca.crt", authority.certificatePem());
        write("ca.key", CertificateAuthority.pem(authority.keys().getPrivate()));
        write("apiserver.crt", identity.certificatePem());
        write("apiserver.key", identity.keyPem());
        write("service-accounts.key", CertificateAuthority.pem(serviceAccounts.getPrivate()));
        write("service-accounts.pub", CertificateAuthority.pem(serviceAccounts.getPublic()));
    }

    private void write(String file, String text) {
        try {
            Files.writeString(directory.resolve(file), text);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        }
    }

    private void startEtcd() {
        String peers = "http://" + LOOPBACK + ":" + freePort();
        etcd = ServerProcess.start(
                List.of(
                        programs.require("etcd").toString(),
                        "--data-dir=etcd",
                        "--unsafe-no-fsync",
                        "--listen-client-urls=" + etcdUrl(),
                        "--advertise-client-urls=" + etcdUrl(),
                        "--listen-peer-urls=" + peers,
                        "--initial-advertise-peer-urls=" + peers,
                        "--initial-cluster=default=" + peers),
                directory,
                logs);
    }

    private String etcdUrl() {
        return "http://" + LOOPBACK + ":" + etcdPort;
    }

    /**
     * Starts the API server after {@link #stopApiServer}, with the same port and data. Waits until the server is ready.
     */
    public void startApiServer() {
        if (apiServer != null) {
            throw new IllegalStateException("the API server runs already");
        }
        List<String> command = new ArrayList<>(List.of(
                programs.require("kube-apiserver").toString(),
                "--etcd-servers=" + etcdUrl(),
                "--bind-address=" + LOOPBACK,
                "--advertise-address=" + LOOPBACK,
                "--endpoint-reconciler-type=none",
                "--secure-port=" + port,
                "--cert-dir=.",
                "--tls-cert-file=apiserver.crt",
                "--tls-private-key-file=apiserver.key",
                "--client-ca-file=ca.crt",
                "--authorization-mode=Node,RBAC",
                "--service-account-issuer=" + ISSUER,
                "--service-account-key-file=service-accounts.pub",
                "--service-account-signing-key-file=service-accounts.key",
                "--service-cluster-ip-range=10.96.0.0/24",
                "--allow-privileged=true"));
        if (!withControllers) {
            // The plugin ServiceAccount refuses pods in a namespace without service accounts. Only the controller
            // manager makes service accounts.
            command.add("--disable-admission-plugins=ServiceAccount");
        }
        ServerProcess started = ServerProcess.start(command, directory, logs);
        apiServer = started;
        awaitReady(started, "/readyz");
    }

    private void startControllerManager() {
        Path identity = kubeconfigFor("system:kube-controller-manager");
        List<String> command = new ArrayList<>(List.of(
                programs.require("kube-controller-manager").toString(),
                "--kubeconfig=" + identity,
                "--authentication-kubeconfig=" + identity,
                "--authorization-kubeconfig=" + identity,
                "--bind-address=" + LOOPBACK,
                "--secure-port=" + freePort(),
                "--cert-dir=controller-manager",
                "--leader-elect=false",
                "--use-service-account-credentials=true",
                "--service-account-private-key-file=service-accounts.key",
                "--root-ca-file=ca.crt",
                "--cluster-signing-cert-file=ca.crt",
                "--cluster-signing-key-file=ca.key"));
        if (!version().isAtLeast(1, LAST_MINOR_WITH_PLAIN_TEXT + 1)) {
            command.add("--port=0");
        }
        ServerProcess started = ServerProcess.start(command, directory, logs);
        controllerManager = started;
        awaitReady(started, "/api/v1/namespaces/default/serviceaccounts/default");
    }

    private void awaitReady(ServerProcess started, String path) {
        try {
            await(path)
                    .atMost(START_LIMIT)
                    .pollInterval(POLL_INTERVAL)
                    .failFast(() -> !started.isAlive())
                    .until(() -> answers(path));
        } catch (RuntimeException e) {
            throw new IllegalStateException(
                    started.tail() + "\n" + Objects.requireNonNull(etcd).tail(), e);
        }
    }

    private boolean answers(String path) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("https://" + LOOPBACK + ":" + port + path))
                .timeout(REQUEST_LIMIT)
                .build();
        try {
            return probe.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    /** Ends the API server as a crash does: connections break, and its port refuses new ones. etcd keeps the data. */
    public void stopApiServer() {
        if (apiServer != null) {
            apiServer.kill();
            apiServer = null;
        }
    }

    /** Returns the directory with the logs of the programs. */
    public Path logs() {
        return logs;
    }

    /** Returns the authority that issued the server's certificate. It can issue certificates for webhooks, too. */
    public CertificateAuthority authority() {
        return authority;
    }

    /** Returns the version of the server, which determines its features. */
    public KubernetesVersion version() {
        return KubernetesVersion.of(client().getKubernetesVersion());
    }

    /** Returns a kubeconfig file with all rights, for kubectl and other clients. */
    public Path kubeconfig() {
        return kubeconfig;
    }

    /** Writes a kubeconfig file for a user in some groups. */
    public Path kubeconfigFor(String user, String... groups) {
        return Kubeconfig.write(nextKubeconfig(), port, authority, authority.issueClient(user, groups));
    }

    /** Writes a kubeconfig file for an existing service account. Its token is valid for an hour. */
    public Path kubeconfigForServiceAccount(String namespace, String name) {
        String token = client().serviceAccounts()
                .inNamespace(namespace)
                .withName(name)
                .tokenRequest()
                .getStatus()
                .getToken();
        return Kubeconfig.write(nextKubeconfig(), port, authority, token);
    }

    /**
     * Writes a kubeconfig file for the service account of an existing pod. As in the pod, the token is bound to the pod.
     * API servers from 1.30 on also know the pod's node from the token.
     */
    public Path kubeconfigForPod(Pod pod) {
        TokenRequest request = new TokenRequestBuilder()
                .withNewSpec()
                .withNewBoundObjectRef()
                .withApiVersion("v1")
                .withKind("Pod")
                .withName(pod.getMetadata().getName())
                .withUid(pod.getMetadata().getUid())
                .endBoundObjectRef()
                .endSpec()
                .build();
        String token = client().serviceAccounts()
                .inNamespace(pod.getMetadata().getNamespace())
                .withName(pod.getSpec().getServiceAccountName())
                .tokenRequest(request)
                .getStatus()
                .getToken();
        return Kubeconfig.write(nextKubeconfig(), port, authority, token);
    }

    private Path nextKubeconfig() {
        return directory.resolve(identities.incrementAndGet() + ".kubeconfig");
    }

    /** Returns a client with all rights. The server closes all its clients when it is closed. */
    public synchronized KubernetesClient client() {
        KubernetesClient client = admin;
        if (client == null) {
            client = clientOf(kubeconfig);
            admin = client;
        }
        return client;
    }

    /** Returns a client for a user in some groups. */
    public KubernetesClient clientFor(String user, String... groups) {
        return clientOf(kubeconfigFor(user, groups));
    }

    /** Returns a client for an existing service account. */
    public KubernetesClient clientForServiceAccount(String namespace, String name) {
        return clientOf(kubeconfigForServiceAccount(namespace, name));
    }

    /** Returns a client for the service account of an existing pod, with a token that is bound to the pod. */
    public KubernetesClient clientForPod(Pod pod) {
        return clientOf(kubeconfigForPod(pod));
    }

    private synchronized KubernetesClient clientOf(Path file) {
        KubernetesClient client = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(file.toFile()))
                .build();
        clients.add(client);
        return client;
    }

    /** Returns the programs that were started and still run. */
    List<ProcessHandle> processes() {
        return Stream.of(controllerManager, apiServer, etcd)
                .filter(Objects::nonNull)
                .map(ServerProcess::handle)
                .toList();
    }

    /** Ends all programs and deletes all data but the logs. */
    @Override
    public synchronized void close() {
        clients.forEach(KubernetesClient::close);
        clients.clear();
        probe.shutdownNow();
        if (controllerManager != null) {
            controllerManager.kill();
            controllerManager = null;
        }
        stopApiServer();
        if (etcd != null) {
            etcd.kill();
            etcd = null;
        }
        scratch.close();
    }

    /** Returns a port of loopback that is free now. The kernel gives it to nobody who does not ask for it. */
    public static int freePort() {
        return ThreadLocalRandom.current()
                .ints(FIRST_PORT, LAST_PORT)
                .filter(KubeApiServer::isFree)
                .findFirst()
                .orElseThrow();
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
