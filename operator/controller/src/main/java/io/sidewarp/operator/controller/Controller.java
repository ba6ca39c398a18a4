// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.fabric8.kubernetes.client.VersionInfo;
import io.javaoperatorsdk.operator.Operator;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.ShutdownEvent;
import io.sidewarp.common.LogText;
import io.sidewarp.common.UnknownVariables;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.config.LeaderElection;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.config.SettingRules;
import io.sidewarp.operator.controller.identity.IdentityServer;
import io.sidewarp.operator.controller.installation.Uninstaller;
import io.sidewarp.operator.controller.network.InstalledNetworks;
import io.sidewarp.operator.controller.webhook.WebhookServer;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.interceptor.Interceptor;
import java.util.List;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The program. Without arguments it runs the operator: every replica answers the API server's admission calls, and the
 * leader reconciles. With the argument {@code uninstall} it cleans up before the chart is removed, and exits.
 */
public class Controller implements QuarkusApplication {
    private static final Logger LOG = Logger.getLogger(Controller.class);
    private static final int USAGE_ERROR = 64;
    private static final int CONFIGURATION_ERROR = 78;
    private static final long START_END_MILLIS = 5_000;
    /** Loggers that print a stack trace for everything that the shutdown interrupts or closes. */
    private static final List<java.util.logging.Logger> QUIET_AT_THE_END = Stream.of(
                    "io.fabric8.kubernetes.client.informers",
                    "io.javaoperatorsdk.operator.api.config.ExecutorServiceManager")
            .map(java.util.logging.Logger::getLogger)
            .toList();

    private static final int FIRST = Interceptor.Priority.PLATFORM_BEFORE - 2;
    private static final int BEFORE_WEBHOOK = Interceptor.Priority.PLATFORM_BEFORE - 1;

    private final OperatorConfig config;
    private final Operator operator;
    private final IdentityServer identities;
    private final WebhookServer webhook;
    private final Uninstaller uninstaller;
    private final AwaitedApiServer apiServer;
    private final InstalledNetworks networks;
    private final ClusterFeatures features;
    private final LeaderElection leadership;
    private volatile int exitCode;
    private volatile boolean ending;
    private volatile boolean operating;
    private @Nullable Thread start;

    public Controller(
            OperatorConfig config,
            Operator operator,
            IdentityServer identities,
            WebhookServer webhook,
            Uninstaller uninstaller,
            AwaitedApiServer apiServer,
            InstalledNetworks networks,
            ClusterFeatures features,
            LeaderElection leadership) {
        this.config = config;
        this.operator = operator;
        this.identities = identities;
        this.webhook = webhook;
        this.uninstaller = uninstaller;
        this.apiServer = apiServer;
        this.networks = networks;
        this.features = features;
        this.leadership = leadership;
    }

    @Override
    public int run(String... arguments) throws InterruptedException {
        UnknownVariables.in(System.getenv().keySet(), "SIDEWARP_OPERATOR_", OperatorConfig.class)
                .ifPresent(names -> LOG.warnf(
                        "event=unknown-variables names=%s action=\"none is a setting of the controller, and none has an"
                                + " effect; see operator/README.md\"",
                        LogText.quoted(names)));
        if (arguments.length == 1 && arguments[0].equals("uninstall")) {
            return uninstaller.run() ? 0 : 1;
        }
        if (arguments.length > 0) {
            LOG.errorf(
                    "event=usage-error arguments=\"%s\" action=\"give none, or uninstall\"",
                    String.join(" ", arguments));
            return USAGE_ERROR;
        }
        List<String> problems = SettingRules.problems(config);
        if (!problems.isEmpty()) {
            problems.forEach(problem -> LOG.fatalf("event=setting-unusable reason=\"%s\"", problem));
            return CONFIGURATION_ERROR;
        }
        begin();
        Quarkus.waitForExit();
        return exitCode;
    }

    /** Starts in a thread of its own, because the main thread must notice a shutdown at any time. */
    private synchronized void begin() {
        if (!ending) {
            start = Thread.ofPlatform().name("start").start(this::start);
        }
    }

    private void start() {
        try {
            VersionInfo version = apiServer.await();
            LOG.infof("event=started kubernetes=%s.%s", version.getMajor(), version.getMinor());
            features.start();
            identities.start();
            webhook.start();
            networks.start();
            features.await();
            startOperator();
            networks.tell();
            features.tell();
        } catch (InterruptedException e) {
            LOG.debug("event=stopped-before-it-started");
        } catch (RuntimeException e) {
            if (ending) {
                LOG.debug("event=stopped-before-it-started", e);
                return;
            }
            LOG.fatal("event=start-failed", e);
            exitCode = 1;
            Quarkus.asyncExit(exitCode);
        }
    }

    private void startOperator() throws InterruptedException {
        if (ending) {
            throw new InterruptedException();
        }
        operating = true;
        operator.start();
    }

    /** Interrupts the start before all other shutdown steps. A failure from now on does not count as a failed start. */
    synchronized void interrupt(@Observes @Priority(FIRST) ShutdownEvent event) {
        ending = true;
        QUIET_AT_THE_END.forEach(logger -> logger.setLevel(Level.OFF));
        if (start != null) {
            start.interrupt();
        }
    }

    /**
     * Stops the operator while its dependencies still exist. A shutdown by a signal does not wait for the main thread.
     * Another replica can lead from then on, while the webhook of this replica still serves.
     */
    void endOperator(@Observes @Priority(BEFORE_WEBHOOK) ShutdownEvent event) throws InterruptedException {
        Thread interrupted = begun();
        if (interrupted == null) {
            return;
        }
        interrupted.join(START_END_MILLIS);
        if (operating) {
            operator.stop();
            leadership.release();
        }
    }

    void end(@Observes ShutdownEvent event) {
        if (begun() != null) {
            networks.close();
            features.close();
        }
    }

    private synchronized @Nullable Thread begun() {
        return start;
    }
}
