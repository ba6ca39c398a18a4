// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Sidewarp;
import io.sidewarp.cli.text.Json;
import io.sidewarp.cli.text.Listing;
import io.sidewarp.client.SidewarpClient;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sidewarp show}. */
@Command(
        name = "show",
        header = "Show connections, associations, regions, sessions or the device of the sidecar.",
        description = {
            "Shows objects of all sessions of this user. Root and the sidecar's user see those of all users.",
            ""
        },
        footerHeading = "%nExamples:%n",
        footer = {"  sidewarp show connections", "  sidewarp show device --json"})
public final class ShowCommand implements Callable<Integer> {

    /** A kind of objects to show. */
    private enum Subject {
        CONNECTIONS,
        ASSOCIATIONS,
        REGIONS,
        DEVICE,
        SESSIONS;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @ParentCommand
    private Sidewarp sidewarp;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "WHAT", description = "One of ${COMPLETION-CANDIDATES}.")
    private Subject subject = Subject.DEVICE;

    @Option(names = "--json", description = "Print JSON, as docs/cli.md describes it.")
    private boolean json;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        try (SidewarpClient client = sidewarp.client()) {
            Listing.View view = switch (subject) {
                case CONNECTIONS -> Listings.CONNECTIONS.view(client.listConnections());
                case ASSOCIATIONS -> Listings.associations(client.listAssociations());
                case REGIONS -> Listings.REGIONS.view(client.listRegions());
                case DEVICE -> DeviceView.of(client.device());
                case SESSIONS -> Listings.SESSIONS.view(client.listSessions());
            };
            out.print(json ? Json.write(view.json()) + "\n" : view.text());
            out.flush();
        }
        return ExitCode.OK;
    }
}
