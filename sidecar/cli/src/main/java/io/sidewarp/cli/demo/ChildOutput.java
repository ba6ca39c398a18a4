// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.Failure;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Reads the output of a child process, line by line, on a thread of its own. */
final class ChildOutput {

    private static final String END = "\0end";
    private static final String LISTENING = "listening on ";

    private final DemoProcess program;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    ChildOutput(DemoProcess program) {
        this.program = program;
        Thread.ofVirtual().name("sidewarp-demo-talk").start(this::read);
    }

    /** Waits until a server reports where it listens. Returns that address. */
    String awaitListening(long seconds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (true) {
            String line = next(end).orElseThrow(() -> program.failure("does not listen:"));
            if (line.startsWith(LISTENING)) {
                return line.substring(LISTENING.length());
            }
        }
    }

    /** Passes on all lines until the program ends. */
    void untilEnd(Consumer<String> taker, long seconds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        Optional<String> line = next(end);
        while (line.isPresent()) {
            taker.accept(line.get());
            line = next(end);
        }
    }

    /** Collects facts until the last one has arrived. */
    ProcessFacts facts(String last, long seconds) {
        ProcessFacts facts = new ProcessFacts();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!facts.has(last)) {
            facts.add(next(end).orElseThrow(() -> program.failure("did not report all facts:")));
        }
        return facts;
    }

    /** Returns the next line. Empty when the program has ended, or the time is over. */
    private Optional<String> next(long end) {
        try {
            String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            return line == null || line.equals(END) ? Optional.empty() : Optional.of(line);
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        }
    }

    private void read() {
        try (BufferedReader reader = program.process().inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            // The process has ended, and with it the rest of its output.
        }
        lines.add(END);
    }
}
