// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A process at one end: {@code EndProgram KIND active|passive ADDRESS}, with the address of the passive end. The
 * process answers each {@link EndCommand} of its standard input by an {@link EndReply}, and ends with its input.
 */
public final class EndProgram {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final EndKind kind;
    private final InetAddress address;
    private @Nullable ActiveEnd active;
    private @Nullable PassiveEnd passive;
    private Usage begin = Usage.now();

    private EndProgram(EndKind kind, InetAddress address) {
        this.kind = kind;
        this.address = address;
    }

    public static void main(String[] arguments) throws Exception {
        EndProgram program = new EndProgram(EndKind.valueOf(arguments[0]), InetAddress.getByName(arguments[2]));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            System.out.println(JSON.writeValueAsString(program.reply(line)));
            System.out.flush();
        }
        program.release();
        // gRPC and Netty leave threads behind that are not daemons.
        System.exit(0);
    }

    private EndReply reply(String line) {
        try {
            return carryOut(JSON.readValue(line, EndCommand.class));
        } catch (Exception e) {
            e.printStackTrace();
            return new EndReply(0, null, null, 0, String.valueOf(e));
        }
    }

    private EndReply carryOut(EndCommand command) throws Exception {
        switch (command.verb()) {
            case LISTEN -> {
                PassiveEnd listening = kind.listen(Objects.requireNonNull(command.plan()), address);
                passive = listening;
                return new EndReply(listening.port(), null, null, 0, null);
            }
            case CONNECT ->
                active = kind.connect(
                        Objects.requireNonNull(command.plan()), new InetSocketAddress(address, command.port()));
            case RUN -> {
                Usage before = Usage.now();
                DutyOutcome outcome =
                        Objects.requireNonNull(active, "not connected").run(command.nanos());
                return new EndReply(0, outcome, Usage.now().since(before), 0, null);
            }
            case BEGIN -> begin = Usage.now();
            case END -> {
                return new EndReply(0, null, Usage.now().since(begin), 0, null);
            }
            case MEMORY -> {
                return new EndReply(0, null, null, memoryInUse(), null);
            }
            case RELEASE -> release();
        }
        return EndReply.DONE;
    }

    /**
     * Returns the memory in use. All of the heap is resident from the start ({@code AlwaysPreTouch}), so only its used
     * part counts.
     */
    @SuppressWarnings("DoNotCall") // Garbage is not memory that connections take.
    private static long memoryInUse() {
        System.gc();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        return Usage.residentOctets(ProcessHandle.current().pid()) - heap.getCommitted() + heap.getUsed();
    }

    private void release() throws Exception {
        if (active != null) {
            active.close();
            active = null;
        }
        if (passive != null) {
            passive.close();
            passive = null;
        }
    }
}
