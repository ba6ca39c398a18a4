// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Interruption;
import io.sidewarp.cli.Sidewarp;
import io.sidewarp.cli.show.ConnectionRates.Rated;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Listing;
import io.sidewarp.cli.text.LiveView;
import io.sidewarp.cli.text.Rates;
import io.sidewarp.cli.text.Times;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.SidewarpClient;
import java.io.IOException;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sidewarp top}. */
@Command(
        name = "top",
        header = "Show connections and their rates, the fastest first.",
        description = {
            "In a terminal, redraws in place and fits the window; q or Ctrl-C ends it. Without a terminal, or with --count,"
                    + " prints the rates of each interval below those of the interval before. Goes on when the sidecar"
                    + " restarts. Shows connections of this user, and to root and the sidecar's user those of all users.",
            "",
            "SENT and RECEIVED count payload. OUT and IN count RDMA messages that this side and the peer began.",
            ""
        },
        footerHeading = "%nExamples:%n",
        footer = {"  sidewarp top", "  sidewarp top --peer 10.244.1.* --interval 5s", "  sidewarp top --count 1"})
public final class TopCommand implements Callable<Integer> {

    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    private static final Listing<Rated> LISTING = new Listing<Rated>("connections")
            .column(">ID", rated -> rated.connection().id())
            .column(">SENT", rated -> Rates.bits(rated.bitsSent()))
            .column(">RECEIVED", rated -> Rates.bits(rated.bitsReceived()))
            .column(">OUT", rated -> Rates.number(rated.messagesSent()))
            .column(">IN", rated -> Rates.number(rated.messagesReceived()))
            .column("STATE", rated -> Listings.plain(rated.connection().state()))
            .column(
                    "REMOTE",
                    rated -> new HostPort(
                            rated.connection().remoteAddress(),
                            rated.connection().remotePort()))
            .column("SESSION", rated -> rated.connection().sessionName());

    @ParentCommand
    private Sidewarp sidewarp;

    @Spec
    private CommandSpec spec;

    @Mixin
    private Filters filters;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "TIME",
            defaultValue = "2s",
            converter = Times.class,
            description = "Time over which rates are measured, and between two views (default: ${DEFAULT-VALUE}).")
    private Duration interval;

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "0",
            description = "Print the rates of N intervals, and end.")
    private long count;

    private final ConnectionRates rates = new ConnectionRates();

    @Override
    public Integer call() throws IOException {
        if (!interval.isPositive() || count < 0) {
            throw new ParameterException(
                    spec.commandLine(), "--interval must be more than 0, and --count must be 0 (no limit) or more");
        }
        String target = sidewarp.clientOptions().target();
        Reachable reachable = new Reachable(target);
        LiveView live = LiveView.of(spec.commandLine().getOut(), false, count, interval);
        try (SidewarpClient client = sidewarp.client()) {
            if (!live.inPlace()) {
                // The first listing has no rates.
                reachable.textOr(() -> text(client.listConnections(), System.nanoTime()), false);
                Interruption.sleep(interval);
            }
            String gap = live.inPlace() ? "" : "\n";
            live.run(() -> CLOCK.format(LocalTime.now(ZoneId.systemDefault())) + "  "
                    + reachable.textOr(() -> text(client.listConnections(), System.nanoTime()), false) + gap);
        }
        return ExitCode.OK;
    }

    /**
     * Returns the view of a listing.
     *
     * @param all connections before the filters: one that matches later has a rate then
     * @param nanos time of the listing
     */
    String text(List<ConnectionInfo> all, long nanos) {
        List<Rated> rated = rates.update(all, nanos).stream()
                .filter(one -> filters.matches(Kind.CONNECTIONS, one.connection()))
                .toList();
        long established = rated.stream()
                .filter(one -> one.connection().state() == Connection.State.ESTABLISHED)
                .count();
        String summary = rated.size() + " connections, " + established + " established; sent "
                + Rates.bits(sum(rated, Rated::bitsSent)) + ", received " + Rates.bits(sum(rated, Rated::bitsReceived))
                + "\n";
        boolean hidden = rated.isEmpty() && !all.isEmpty();
        return summary + (hidden ? filters.noMatch(Kind.CONNECTIONS, all.size()) : LISTING.text(rated));
    }

    private static double sum(List<Rated> rated, ToDoubleFunction<Rated> rate) {
        return rated.stream().mapToDouble(rate).sum();
    }
}
