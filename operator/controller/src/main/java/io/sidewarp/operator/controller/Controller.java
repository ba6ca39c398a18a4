// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.fabric8.kubernetes.client.VersionInfo;
import io.javaoperatorsdk.operator.Operator;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.sidewarp.operator.api.config.UnknownVariables;
import io.sidewarp.operator.api.log.LogText;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.config.SettingRules;
import io.sidewarp.operator.controller.installation.Uninstaller;
import io.sidewarp.operator.controller.network.InstalledNetworks;
import io.sidewarp.operator.controller.webhook.NativeSidecars;
import io.sidewarp.operator.controller.webhook.WebhookServer;
import java.util.List;
import org.jboss.logging.Logger;

/**
 * The program. Without arguments it is the operator: every replica answers the API server's admission calls, and the one that
 * leads reconciles. With the argument {@code uninstall} it cleans up before the chart is removed, and ends.
 */
@QuarkusMain
public class Controller implements QuarkusApplication {
    private static final Logger LOG = Logger.getLogger(Controller.class);
    private static final int USAGE_ERROR = 64;
    private static final int CONFIGURATION_ERROR = 78;
    private static final long START_END_MILLIS = 5_000;

    private final OperatorConfig config;
    private final Operator operator;
    private final WebhookServer webhook;
    private final Uninstaller uninstaller;
    private final ApiServer apiServer;
    private final InstalledNetworks networks;
    private volatile int exitCode;

    public Controller(
            OperatorConfig config,
            Operator operator,
            WebhookServer webhook,
            Uninstaller uninstaller,
            ApiServer apiServer,
            InstalledNetworks networks) {
        this.config = config;
        this.operator = operator;
        this.webhook = webhook;
        this.uninstaller = uninstaller;
        this.apiServer = apiServer;
        this.networks = networks;
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
        // Not in this thread, which has to hear of the end at any time.
        Thread start = Thread.ofPlatform().name("start").start(this::start);
        Quarkus.waitForExit();
        start.interrupt();
        start.join(START_END_MILLIS);
        operator.stop();
        networks.close();
        return exitCode;
    }

    private void start() {
        try {
            VersionInfo version = apiServer.await();
            LOG.infof("event=started kubernetes=%s.%s", version.getMajor(), version.getMinor());
            webhook.start(NativeSidecars.areIn(version));
            networks.start();
            operator.start();
            networks.tell();
        } catch (InterruptedException e) {
            LOG.debug("event=stopped-before-it-started");
        } catch (RuntimeException e) {
            LOG.fatal("event=start-failed", e);
            exitCode = 1;
            Quarkus.asyncExit(exitCode);
        }
    }
}
