// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Sidewarp;
import io.sidewarp.cli.text.Listing;
import io.sidewarp.cli.text.LiveView;
import io.sidewarp.cli.text.Times;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.common.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Stack;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
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
        footer = {
            "  sidewarp show connections",
            "  sidewarp show connections --peer 10.244.* --state established --watch",
            "  sidewarp show regions --session trainer",
            "  sidewarp show device --json"
        })
public final class ShowCommand implements Callable<Integer> {

    private static final String DEFAULT_INTERVAL = "2s";

    /** A kind of objects to show. */
    private enum Subject {
        CONNECTIONS,
        ASSOCIATIONS,
        REGIONS,
        DEVICE,
        SESSIONS;

        private Kind<?> kind() {
            return switch (this) {
                case CONNECTIONS -> Kind.CONNECTIONS;
                case ASSOCIATIONS -> Kind.ASSOCIATIONS;
                case REGIONS -> Kind.REGIONS;
                case DEVICE -> Kind.DEVICE;
                case SESSIONS -> Kind.SESSIONS;
            };
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Keeps the word after {@code --watch} from being the interval, if it is none. */
    private static final class OptionalInterval implements IParameterPreprocessor {

        @Override
        public boolean preprocess(
                Stack<String> arguments, CommandSpec command, ArgSpec argument, Map<String, Object> info) {
            boolean apart = String.valueOf(info.get("separator")).isBlank();
            if (apart && (arguments.isEmpty() || !Character.isDigit((arguments.peek() + " ").charAt(0)))) {
                arguments.push(DEFAULT_INTERVAL);
            }
            return false;
        }
    }

    @ParentCommand
    private Sidewarp sidewarp;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "WHAT", description = "One of ${COMPLETION-CANDIDATES}.")
    private Subject subject = Subject.DEVICE;

    @Mixin
    private Filters.AlsoOfRegions filters;

    @Option(
            names = "--watch",
            arity = "0..1",
            fallbackValue = DEFAULT_INTERVAL,
            paramLabel = "INTERVAL",
            preprocessor = OptionalInterval.class,
            converter = Times.class,
            description =
                    "Show it again and again, every two seconds unless there is another time. q or Ctrl-C ends it.")
    private Optional<Duration> interval = Optional.empty();

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "0",
            description = "With --watch: print N times, one below the other, and end.")
    private long count;

    @Option(names = "--json", description = "Print JSON, as docs/cli.md describes it.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        filters.check(subject.kind(), spec);
        if (interval.filter(Duration::isZero).isPresent() || count < 0 || (count > 0 && interval.isEmpty())) {
            throw new ParameterException(
                    spec.commandLine(), "--watch must be more than 0, and --count needs --watch and is 0 or more");
        }
        PrintWriter out = spec.commandLine().getOut();
        try (SidewarpClient client = sidewarp.client()) {
            if (interval.isEmpty()) {
                out.print(text(client));
                out.flush();
            } else {
                LiveView live = LiveView.of(out, json, count, interval.get());
                Reachable reachable = new Reachable(sidewarp.clientOptions().target());
                String gap = live.inPlace() || json ? "" : "\n";
                live.run(() -> reachable.textOr(() -> text(client), json) + gap);
            }
        }
        return ExitCode.OK;
    }

    private String text(SidewarpClient client) {
        Listing.View view = switch (subject) {
            case CONNECTIONS -> view(Kind.CONNECTIONS, client.listConnections(), Listings.CONNECTIONS::view);
            case ASSOCIATIONS -> view(Kind.ASSOCIATIONS, client.listAssociations(), Listings::associations);
            case REGIONS -> view(Kind.REGIONS, client.listRegions(), Listings.REGIONS::view);
            case DEVICE -> DeviceView.of(client.device());
            case SESSIONS -> view(Kind.SESSIONS, client.listSessions(), Listings.SESSIONS::view);
        };
        return json ? Json.write(view.json()) + "\n" : view.text();
    }

    private <T> Listing.View view(Kind<T> kind, List<T> objects, Function<List<T>, Listing.View> listing) {
        List<T> selected = filters.select(kind, objects);
        Listing.View view = listing.apply(selected);
        boolean hidden = selected.isEmpty() && !objects.isEmpty();
        return hidden ? new Listing.View(filters.noMatch(kind, objects.size()), view.json()) : view;
    }
}
