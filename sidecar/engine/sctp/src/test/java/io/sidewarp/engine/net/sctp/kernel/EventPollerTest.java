// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.net.sctp.socket.NativeFunction;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the poller with event descriptors in place of sockets, because every kernel has them. */
final class EventPollerTest {

    private static final long EVENT = 1;

    @Test
    void aPollerThatCannotStartLeavesNoDescriptorBehind() throws Exception {
        try (EngineLoops loops = EngineLoops.create(1, NetSettings.defaults())) {
            EventLoop loop = loops.choose();
            // The loop's own are there from now on.
            loop.submit(() -> {}).get(10, TimeUnit.SECONDS);
            long before = polls();

            // A thread without a name cannot be started.
            assertThatThrownBy(() -> new EventPoller(loop, fault -> {}, null)).isInstanceOf(NullPointerException.class);

            assertThat(polls()).isLessThanOrEqualTo(before);
        }
    }

    /** Descriptors of epoll and of events that this process has. */
    private static long polls() throws IOException {
        long polls = 0;
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                polls += isPoll(descriptor) ? 1 : 0;
            }
        }
        return polls;
    }

    private static boolean isPoll(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.contains("[eventpoll]") || target.contains("[eventfd");
        } catch (IOException e) {
            // Closed in between, as that of the directory is.
            return false;
        }
    }

    @Test
    void aHandlerThatFailsTakesNoTurnsFromTheOthersAndIsReported() throws Exception {
        BlockingQueue<Throwable> faults = new LinkedBlockingQueue<>();
        BlockingQueue<String> calls = new LinkedBlockingQueue<>();
        IllegalStateException fault = new IllegalStateException("a handler's");
        try (EngineLoops loops = EngineLoops.create(1, NetSettings.defaults());
                Arena arena = Arena.ofShared()) {
            EventLoop loop = loops.choose();
            MemorySegment state = NativeFunction.newCallState(arena);
            int failing = SystemCalls.EVENT.call(state, 0, KernelConstants.EFD_CLOEXEC);
            int working = SystemCalls.EVENT.call(state, 0, KernelConstants.EFD_CLOEXEC);
            // Ready from the start, so that both are found together.
            assertThat(SystemCalls.EVENT_WRITE.call(state, failing, EVENT)).isZero();
            assertThat(SystemCalls.EVENT_WRITE.call(state, working, EVENT)).isZero();
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

            assertThat(SystemCalls.EVENT_WRITE.call(state, working, EVENT)).isZero();
            assertThat(calls.poll(10, TimeUnit.SECONDS)).isEqualTo("called");

            CompletableFuture.supplyAsync(poller::end, loop)
                    .thenCompose(ended -> ended)
                    .get(10, TimeUnit.SECONDS);
            SystemCalls.CLOSE.call(state, failing);
            SystemCalls.CLOSE.call(state, working);
        }
    }
}
