// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollTcpInfo;
import io.sidewarp.engine.net.linux.SocketCalls;
import java.util.ArrayDeque;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Buffers of one event loop, shared by its connections so that an idle connection holds none, and handed out last in
 * first out so that they stay warm in the caches. Touched by that loop only.
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
    /** Free buffers whose turn has come for somebody who waited. */
    private int outputsKept;
    /** Somebody had to wait, and none was free since. */
    private boolean outputShort;

    private int largeInUse;
    private @Nullable EpollTcpInfo tcpInfo;

    LoopResources(NetSettings settings) {
        this(settings, StagingBuffer::new);
    }

    /** @param allocator of buffers with a number of octets */
    LoopResources(NetSettings settings, IntFunction<StagingBuffer> allocator) {
        this.allocator = allocator;
        this.stagingCapacity = settings.stagingCapacity();
        this.limit = settings.outputBuffers();
        this.largeLimit = settings.largeOutputBuffers();
        this.input = allocator.apply(stagingCapacity);
        this.reassembly = new ReassemblyBuffers(settings.reassemblyOctets());
    }

    /** The buffer that every connection of the loop reads into, but for one that keeps octets there. */
    StagingBuffer input() {
        return input;
    }

    /** Whether a connection can have the input buffer for itself. */
    boolean canLendInput() {
        return inputsLent < limit;
    }

    /** Gives the input buffer to one connection, until that gives it back; the others read into another one. */
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
     * A buffer to produce into, a large one while not too many are in use, or null when too many of both are in use, or kept
     * for others who wait; then the turn comes later, and {@link #shortOutput} does until then. So peers that do not read cannot
     * make this side hold more of them than the limit, and a connection whose peer takes much does not take each buffer that it
     * gives back before those who wait.
     */
    @Nullable
    StagingBuffer acquireOutput(OutputTurn turn) {
        if (!turn.hasCome() && !isOutputFree()) {
            turn.await();
            waiting.addLast(turn);
            outputShort = true;
            return null;
        }
        // Counted when it is there: there may be no memory for a new one.
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
     * A buffer for one who waits, of which there is no limit: it is so short that one for each connection costs little. So
     * peers that do not read do not keep this side from sending to others.
     */
    StagingBuffer shortOutput() {
        StagingBuffer buffer = spareShort.pollFirst();
        return buffer == null ? allocator.apply(NetSettings.SHORT_OUTPUT_CAPACITY) : buffer;
    }

    private boolean isOutputFree() {
        return outputsInUse + outputsKept < limit;
    }

    /** Whether somebody had to wait for a buffer, and none was free since. */
    boolean isOutputShort() {
        return outputShort;
    }

    /** One who waits, or whose turn has come, leaves it to others. */
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

    /** @param reusable false when somebody may still look at the buffer, which is then dropped */
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

    /** Scratch for questions to the kernel about a connection. */
    EpollTcpInfo tcpInfo() {
        if (tcpInfo == null) {
            tcpInfo = new EpollTcpInfo();
        }
        return tcpInfo;
    }
}
