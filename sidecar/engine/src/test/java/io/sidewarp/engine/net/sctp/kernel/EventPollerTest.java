// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.NetSettings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** With descriptors of events, which any kernel has, in place of sockets. */
final class EventPollerTest {

    private static final long EVENT = 1;

    @Test
    void aHandlerThatFailsTakesNoTurnsFromTheOthersAndIsReported() throws Exception {
        BlockingQueue<Throwable> faults = new LinkedBlockingQueue<>();
        BlockingQueue<String> calls = new LinkedBlockingQueue<>();
        IllegalStateException fault = new IllegalStateException("a handler's");
        try (EngineLoops loops = EngineLoops.create(1, NetSettings.defaults());
                Arena arena = Arena.ofShared()) {
            EventLoop loop = loops.choose();
            MemorySegment state = SystemCalls.newCallState(arena);
            int failing = SystemCalls.event(state, KernelConstants.EFD_CLOEXEC);
            int working = SystemCalls.event(state, KernelConstants.EFD_CLOEXEC);
            // Ready from the start, so that both are found together.
            assertThat(SystemCalls.eventWrite(state, failing, EVENT)).isZero();
            assertThat(SystemCalls.eventWrite(state, working, EVENT)).isZero();
            EventPoller poller = CompletableFuture.supplyAsync(
                            () -> {
                                EventPoller started = new EventPoller(loop, faults::add, "poller");
                                started.add(failing, writable -> {
                                    throw fault;
                                });
                                started.add(working, writable -> calls.add("called"));
                                return started;
                            },
                            loop)
                    .get(10, TimeUnit.SECONDS);
            assertThat(faults.poll(10, TimeUnit.SECONDS)).isSameAs(fault);
            assertThat(calls.poll(10, TimeUnit.SECONDS)).isEqualTo("called");

            assertThat(SystemCalls.eventWrite(state, working, EVENT)).isZero();
            assertThat(calls.poll(10, TimeUnit.SECONDS)).isEqualTo("called");

            CompletableFuture.supplyAsync(poller::end, loop)
                    .thenCompose(ended -> ended)
                    .get(10, TimeUnit.SECONDS);
            SystemCalls.close(state, failing);
            SystemCalls.close(state, working);
        }
    }
}
