// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli;

import io.sidewarp.cli.copy.CopyCommand;
import io.sidewarp.cli.copy.ServeCommand;
import io.sidewarp.cli.demo.DemoCommand;
import io.sidewarp.cli.demo.DemoReceiverCommand;
import io.sidewarp.cli.demo.DemoSenderCommand;
import io.sidewarp.cli.identity.IdentityCommand;
import io.sidewarp.cli.manual.CompletionCommand;
import io.sidewarp.cli.manual.ManCommand;
import io.sidewarp.cli.perf.PerfCommand;
import io.sidewarp.cli.perftest.PerftestCommand;
import io.sidewarp.cli.ping.PingCommand;
import io.sidewarp.cli.show.ShowCommand;
import io.sidewarp.cli.show.TopCommand;
import io.sidewarp.cli.text.Times;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code sidewarp} command: options of all subcommands, and the connection to the sidecar. */
@Command(
        name = "sidewarp",
        description = "Talks to a Sidewarp sidecar: RDMA over TCP (iWARP) for the processes of this pod.",
        mixinStandardHelpOptions = true,
        versionProvider = Sidewarp.Version.class,
        scope = ScopeType.INHERIT,
        synopsisSubcommandLabel = "COMMAND",
        usageHelpAutoWidth = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " 0:done",
            " 1:a transfer failed, or what arrived is not what was sent",
            " 2:wrong arguments",
            "66:a file to be read is missing, here or at the peer",
            "69:no sidecar at --api, or it went away",
            "70:a bug",
            "71:memory, disk space or a limit is too small",
            "73:a file cannot be created, here or at the peer",
            "74:reading or writing a file, or writing the output, failed",
            "75:the peer cannot be reached, refused or did not answer; try later",
            "76:the peer does not speak the same protocol",
            "77:not permitted",
            "78:the configuration does not allow it, for instance the volume is not mounted here",
            "130, 143:interrupted, terminated"
        },
        subcommands = {
            PingCommand.class,
            PerfCommand.class,
            PerftestCommand.class,
            CopyCommand.class,
            ServeCommand.class,
            ShowCommand.class,
            TopCommand.class,
            DemoCommand.class,
            IdentityCommand.class,
            CompletionCommand.class,
            ManCommand.class,
            DemoReceiverCommand.class,
            DemoSenderCommand.class
        })
public final class Sidewarp implements Runnable {

    @Option(
            names = "--api",
            paramLabel = "TARGET",
            scope = ScopeType.INHERIT,
            description = "The sidecar: unix:///PATH or HOST:PORT. Default: the environment's SIDEWARP_API, else "
                    + ClientOptions.DEFAULT_TARGET + ".")
    private @Nullable String api;

    @Option(
            names = "--volume",
            paramLabel = "DIR",
            scope = ScopeType.INHERIT,
            description = "This process's mount of the volume for shared regions. Default: the environment's"
                    + " SIDEWARP_VOLUME, else " + ClientOptions.DEFAULT_VOLUME + " or the sidecar's own path.")
    private @Nullable Path volume;

    @Option(
            names = "--wait-ready",
            paramLabel = "TIME",
            scope = ScopeType.INHERIT,
            defaultValue = "0",
            converter = Times.class,
            description =
                    "Longest wait for the sidecar to serve, and then again for the peer to listen. Default: no wait.")
    private Duration patience = Duration.ZERO;

    /** Former name of --wait-ready, in front of a command. */
    @Option(names = "--wait", paramLabel = "TIME", hidden = true, converter = Times.class)
    private @Nullable Duration formerPatience;

    @Option(
            names = "--verbose",
            scope = ScopeType.INHERIT,
            description = "Log what the client does, and print stack traces of failures.")
    private boolean verbose;

    @Spec
    private CommandSpec spec;

    /** Keeps the logger from the garbage collector, so that its level stays in force. */
    private final Logger rootLogger = Logger.getLogger("");

    /** Runs a command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        Interruption.install();
        CommandLine commandLine = commandLine(System.getenv());
        // Lets the writer know of output that the stream could not write.
        commandLine.setOut(new PrintWriter(System.out, true, System.out.charset()));
        int exitCode = execute(commandLine, arguments);
        Interruption.finished();
        System.exit(exitCode);
    }

    /** Runs a command. A command whose output could not be written has not succeeded. */
    static int execute(CommandLine commandLine, String... arguments) {
        int exitCode;
        try {
            exitCode = commandLine.execute(arguments);
        } catch (Error e) {
            // Picocli calls its handler only for exceptions.
            return Failures.report(e, commandLine);
        }
        if (exitCode == ExitCode.OK && commandLine.getOut().checkError()) {
            Failure failure = Failure.noOutput();
            commandLine.getErr().println("sidewarp: " + failure.getMessage());
            return failure.exitCode();
        }
        return exitCode;
    }

    /** Returns the command, ready to run. Running it does not end the process. */
    public static CommandLine commandLine(Map<String, String> environment) {
        CommandLine commandLine = new CommandLine(new Sidewarp())
                .setExecutionExceptionHandler(new Failures())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpLongOptionsMaxWidth(28);
        commandLine.setExecutionStrategy(parsed -> {
            Sidewarp root = commandLine.getCommand();
            root.configureLogging();
            return new CommandLine.RunLast().execute(parsed);
        });
        commandLine.setParameterExceptionHandler((exception, arguments) -> {
            CommandLine failed = exception.getCommandLine();
            failed.getErr().println("sidewarp: " + message(exception));
            CommandLine.UnmatchedArgumentException.printSuggestions(exception, failed.getErr());
            failed.getErr().println("See: " + failed.getCommandSpec().qualifiedName() + " --help");
            return ExitCode.USAGE;
        });
        if (environment.containsKey("NO_COLOR")) {
            commandLine.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        }
        return commandLine;
    }

    private static String message(CommandLine.ParameterException exception) {
        boolean ofRoot = exception.getCommandLine().getParent() == null;
        if (ofRoot && exception instanceof CommandLine.UnmatchedArgumentException unmatched) {
            String first = unmatched.getUnmatched().getFirst();
            return first.startsWith("-") ? "no such option: " + first : "no such command: " + first;
        }
        return String.valueOf(exception.getMessage());
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** Returns the options for reaching the sidecar. */
    public ClientOptions clientOptions() {
        ClientOptions options = ClientOptions.defaults();
        String target = api;
        if (target != null) {
            options = options.withTarget(target);
        }
        Path directory = volume;
        if (directory != null) {
            options = options.withSharedVolume(directory);
        }
        return options;
    }

    /**
     * Connects to the sidecar.
     *
     * @throws Failure when the sidecar does not serve within the time of --wait-ready; without --wait-ready, the first
     *     call fails instead
     */
    public SidewarpClient client() {
        SidewarpClient client = SidewarpClient.connect(clientOptions());
        if (patience().isPositive()) {
            try {
                client.awaitReady(patience());
            } catch (SidewarpException e) {
                client.close();
                throw new Failure(
                        ExitCode.UNAVAILABLE,
                        "no sidecar serves at " + clientOptions().target() + ": " + e.getMessage(),
                        e);
            }
        }
        return client;
    }

    /** Returns how long to wait for others to be ready. Zero means no wait. */
    public Duration patience() {
        Duration former = formerPatience;
        return former == null || patience.isPositive() ? patience : former;
    }

    /** Returns whether stack traces are wanted. */
    public boolean verbose() {
        return verbose;
    }

    private void configureLogging() {
        // The command itself reports each failure once.
        rootLogger.setLevel(verbose ? Level.INFO : Level.OFF);
    }

    /** The version from the jar's manifest. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Optional.ofNullable(Sidewarp.class.getPackage().getImplementationVersion())
                    .orElse("(not packaged)");
            return new String[] {"sidewarp " + version};
        }
    }
}
