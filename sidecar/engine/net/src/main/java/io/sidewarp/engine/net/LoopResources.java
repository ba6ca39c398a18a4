// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollTcpInfo;
import io.sidewarp.engine.linux.SocketCalls;
import java.util.ArrayDeque;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Buffers of one event loop, shared by its connections. An idle connection holds no buffer. Buffers are handed out last
 * in, first out, so that they stay warm in the caches. Only that loop may use them.
 */
final class LoopResources {

    private static final int KEPT_PER_CLASS = 16;

    private final IntFunction<StagingBuffer> allocator;
    private final int stagingCapacity;
    private final int limit;
    private final int largeLimit;
    private final ArrayDeque<StagingBuffer> spare = new ArrayDeque<>();
    private final ArrayDeque<StagingBuffer> spareLarge = new ArrayDeque<>();
    private final ArrayDeque<StagingBuffer> spareShort = new ArrayDeque<>();
    private final ArrayDeque<OutputTurn> waiting = new ArrayDeque<>();
    private final ReassemblyBuffers reassembly;
    private final SocketCalls socketCalls = new SocketCalls();
    private StagingBuffer input;
    private int inputsLent;
    private int outputsInUse;
    /** Number of free buffers that are reserved for connections whose turn has come. */
    private int outputsKept;
    /** True if a connection had to wait and no buffer has been free since. */
    private boolean outputShort;

    private int largeInUse;
    private @Nullable EpollTcpInfo tcpInfo;
    private @Nullable TlsBuffers tls;

    LoopResources(NetSettings settings) {
        this(settings, StagingBuffer::new);
    }

    /** @param allocator creates a buffer with the given number of bytes */
    LoopResources(NetSettings settings, IntFunction<StagingBuffer> allocator) {
        this.allocator = allocator;
        this.stagingCapacity = settings.stagingCapacity();
        this.limit = settings.buffers().output();
        this.largeLimit = settings.buffers().largeOutput();
        this.input = allocator.apply(stagingCapacity);
        this.reassembly = new ReassemblyBuffers(settings.buffers().reassembly());
    }

    /**
     * Returns the buffer that all connections of the loop read into, except those that keep bytes in a buffer of their
     * own.
     */
    StagingBuffer input() {
        return input;
    }

    /** Returns whether a connection can get the input buffer for itself. */
    boolean canLendInput() {
        return inputsLent < limit;
    }

    /**
     * Lends the input buffer to one connection until that connection returns it. The others read into another buffer.
     */
    StagingBuffer lendInput() {
        StagingBuffer lent = input;
        input = spare();
        inputsLent++;
        return lent;
    }

    void releaseInput(StagingBuffer buffer) {
        inputsLent--;
        keep(spare, buffer);
    }

    /**
     * Returns a buffer to produce into. The buffer is large while few large buffers are in use. Returns null when too
     * many buffers are in use or reserved. The turn then comes later; {@link #shortOutput} serves until then.
     *
     * <p>Peers that do not read therefore cannot make this side hold more buffers than the limit. A connection that
     * returns a buffer gets the next one only after the connections that wait, even if its peer reads much.
     */
    @Nullable
    StagingBuffer acquireOutput(OutputTurn turn) {
        if (!turn.hasCome() && !isOutputFree()) {
            turn.await();
            waiting.addLast(turn);
            outputShort = true;
            return null;
        }
        // Counted after the allocation, which may fail for lack of memory.
        boolean large = largeInUse < largeLimit;
        StagingBuffer buffer = large ? spareLarge() : spare();
        outputsInUse++;
        if (large) {
            largeInUse++;
        }
        if (turn.hasCome()) {
            outputsKept--;
            turn.end();
        }
        return buffer;
    }

    /**
     * Returns a buffer for a connection that waits. The number of these buffers has no limit: they are so short that
     * one for each connection costs little. Peers that do not read therefore cannot keep this side from sending to
     * others.
     */
    StagingBuffer shortOutput() {
        StagingBuffer buffer = spareShort.pollFirst();
        return buffer == null ? allocator.apply(NetSettings.SHORT_OUTPUT_CAPACITY) : buffer;
    }

    private boolean isOutputFree() {
        return outputsInUse + outputsKept < limit;
    }

    /** Returns whether a connection had to wait for a buffer and none has been free since. */
    boolean isOutputShort() {
        return outputShort;
    }

    /** Leaves a place in the queue, or a reserved buffer, to other connections. */
    void giveUp(OutputTurn turn) {
        if (turn.isWaiting()) {
            waiting.remove(turn);
        } else if (turn.hasCome()) {
            outputsKept--;
        }
        turn.end();
        serveWaiting();
    }

    private void serveWaiting() {
        while (isOutputFree() && !waiting.isEmpty()) {
            outputsKept++;
            waiting.removeFirst().come();
        }
        outputShort &= !isOutputFree();
    }

    private StagingBuffer spareLarge() {
        StagingBuffer buffer = spareLarge.pollFirst();
        return buffer == null ? allocator.apply(NetSettings.LARGE_OUTPUT_CAPACITY) : buffer;
    }

    private StagingBuffer spare() {
        StagingBuffer buffer = spare.pollFirst();
        return buffer == null ? allocator.apply(stagingCapacity) : buffer;
    }

    private static void keep(ArrayDeque<StagingBuffer> buffers, StagingBuffer buffer) {
        if (buffers.size() < KEPT_PER_CLASS) {
            buffers.addFirst(buffer);
        }
    }

    /** @param reusable false when somebody may still read the buffer, which is then dropped */
    void releaseOutput(StagingBuffer buffer, boolean reusable) {
        if (buffer.wire().capacity() == NetSettings.SHORT_OUTPUT_CAPACITY) {
            if (reusable) {
                keep(spareShort, buffer);
            }
            return;
        }
        outputsInUse--;
        boolean large = buffer.wire().capacity() == NetSettings.LARGE_OUTPUT_CAPACITY;
        if (large) {
            largeInUse--;
        }
        if (reusable && large) {
            spareLarge.addFirst(buffer);
        } else if (reusable) {
            keep(spare, buffer);
        }
        serveWaiting();
    }

    ReassemblyBuffers reassembly() {
        return reassembly;
    }

    SocketCalls socketCalls() {
        return socketCalls;
    }

    /** Returns the buffers for TLS. They exist from the first connection with TLS on. */
    TlsBuffers tls() {
        if (tls == null) {
            tls = new TlsBuffers(stagingCapacity);
        }
        return tls;
    }

    /** Returns scratch memory for questions to the kernel about a connection. */
    EpollTcpInfo tcpInfo() {
        if (tcpInfo == null) {
            tcpInfo = new EpollTcpInfo();
        }
        return tcpInfo;
    }
}
