// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.VersionInfo;
import io.javaoperatorsdk.operator.Operator;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.sidewarp.operator.controller.installation.Uninstaller;
import io.sidewarp.operator.controller.network.InstalledNetworks;
import io.sidewarp.operator.controller.webhook.WebhookServer;
import org.jboss.logging.Logger;

/**
 * The program. Without arguments it is the operator: every replica answers the API server's admission calls, and the one that
 * leads reconciles. With the argument {@code uninstall} it cleans up before the chart is removed, and ends.
 */
@QuarkusMain
public class Controller implements QuarkusApplication {
    private static final Logger LOG = Logger.getLogger(Controller.class);
    private static final int USAGE_ERROR = 64;
    private static final int NATIVE_SIDECARS_SINCE = 29;

    private final Operator operator;
    private final WebhookServer webhook;
    private final Uninstaller uninstaller;
    private final KubernetesClient client;
    private final InstalledNetworks networks;

    public Controller(
            Operator operator,
            WebhookServer webhook,
            Uninstaller uninstaller,
            KubernetesClient client,
            InstalledNetworks networks) {
        this.operator = operator;
        this.webhook = webhook;
        this.uninstaller = uninstaller;
        this.client = client;
        this.networks = networks;
    }

    @Override
    public int run(String... arguments) throws InterruptedException {
        if (arguments.length == 1 && arguments[0].equals("uninstall")) {
            return uninstaller.run() ? 0 : 1;
        }
        if (arguments.length > 0) {
            LOG.errorf(
                    "event=usage-error arguments=\"%s\" action=\"give none, or uninstall\"",
                    String.join(" ", arguments));
            return USAGE_ERROR;
        }
        VersionInfo version = client.getKubernetesVersion();
        LOG.infof("event=started kubernetes=%s.%s", version.getMajor(), version.getMinor());
        webhook.start(hasNativeSidecars(version));
        networks.start();
        operator.start();
        Quarkus.waitForExit();
        operator.stop();
        networks.close();
        webhook.close();
        return 0;
    }

    private static boolean hasNativeSidecars(VersionInfo version) {
        // Providers append to the minor version: "29+".
        String minor = version.getMinor().replaceAll("[^0-9].*", "");
        return Integer.parseInt(version.getMajor()) > 1 || Integer.parseInt(minor) >= NATIVE_SIDECARS_SINCE;
    }
}
