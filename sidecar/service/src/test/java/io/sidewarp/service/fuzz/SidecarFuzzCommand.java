// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Random;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Implements `./sidewarp fuzz rings` and `./sidewarp fuzz control`. Exit status 0 means no finding, 1 a finding, 2 wrong
 * arguments.
 */
final class SidecarFuzzCommand {

    private static final String USAGE = """
            Usage: ./sidewarp fuzz rings|control [--time 1h] [--seed N] [--round N]

            Changes the rings of a running sidecar, or the records on its control socket, at random, --time long (default 1m; 90s, 10m, 2h).
              --seed N    another seed than a random one
              --round N   the first round; a failure prints its seed and its round
            """;

    private static final int FOUND = 1;
    private static final int WRONG_USE = 2;
    private static final int ROUNDS_PER_SIDECAR = 500;

    private String name = "";
    private Duration time = Duration.ofMinutes(1);
    private long seed = new Random().nextInt(1_000_000);
    private long round;

    private SidecarFuzzCommand() {}

    /** @param arguments name of the fuzzer, and what the user said behind the name */
    public static void main(String[] arguments) {
        SidecarFuzzCommand command = new SidecarFuzzCommand();
        try {
            command.parse(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.err.print(USAGE);
            System.exit(WRONG_USE);
        }
        System.exit(command.run());
    }

    private void parse(String[] arguments) {
        name = arguments.length == 0 ? "" : arguments[0];
        if (!name.equals("rings") && !name.equals("control")) {
            throw new IllegalArgumentException("unknown fuzzer: " + name);
        }
        for (int i = 1; i < arguments.length; i += 2) {
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException(arguments[i] + " is unknown, or needs a value");
            }
            String value = arguments[i + 1];
            switch (arguments[i]) {
                case "--time" -> time = duration(value);
                case "--seed" -> seed = Long.parseLong(value);
                case "--round" -> round = Long.parseLong(value);
                default -> throw new IllegalArgumentException("unknown argument: " + arguments[i]);
            }
        }
    }

    private static Duration duration(String text) {
        try {
            return Duration.parse("PT" + text.toUpperCase(Locale.ROOT));
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("not a duration: " + text, e);
        }
    }

    private int run() {
        System.out.printf("%s: %d s, seed %d, from round %d%n", name, time.toSeconds(), seed, round);
        Logger.getLogger("").setLevel(Level.WARNING);
        for (var handler : Logger.getLogger("").getHandlers()) {
            handler.setLevel(Level.OFF);
        }
        long end = System.nanoTime() + time.toNanos();
        long rounds = 0;
        long changes = 0;
        long succeeded = 0;
        while (System.nanoTime() - end < 0) {
            try (Fuzzer fuzzer = name.equals("rings") ? new RingFuzzer(seed) : new ControlFuzzer(seed)) {
                try {
                    while (fuzzer.rounds() < ROUNDS_PER_SIDECAR && System.nanoTime() - end < 0) {
                        fuzzer.round(round++);
                    }
                    fuzzer.checkMemory();
                } catch (AssertionError e) {
                    e.printStackTrace(System.out);
                    return FOUND;
                }
                rounds += fuzzer.rounds();
                changes += fuzzer.changes();
                succeeded += fuzzer.succeeded();
                System.out.printf(
                        "%s: %,d rounds, %,d changes, %,d requests succeeded, no findings%n",
                        name, rounds, changes, succeeded);
            }
        }
        return 0;
    }
}
