// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollTcpInfo;
import io.sidewarp.engine.memory.WireBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Buffers of one event loop, shared by its connections so that an idle connection holds none, and handed out last in
 * first out so that they stay warm in the caches. Touched by that loop only.
 */
final class LoopResources {

    private static final int SMALLEST_REASSEMBLY_SHIFT = 12;
    private static final int REASSEMBLY_CLASSES = 6;
    private static final int KEPT_PER_CLASS = 16;

    private final int stagingCapacity;
    private final StagingBuffer input;
    private final ArrayDeque<StagingBuffer> output = new ArrayDeque<>();
    private final ArrayDeque<WireBuffer>[] reassembly;
    private @Nullable EpollTcpInfo tcpInfo;

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    LoopResources(int stagingCapacity) {
        this.stagingCapacity = stagingCapacity;
        this.input = new StagingBuffer(stagingCapacity);
        this.reassembly = new ArrayDeque[REASSEMBLY_CLASSES];
        for (int i = 0; i < REASSEMBLY_CLASSES; i++) {
            reassembly[i] = new ArrayDeque<>();
        }
    }

    /** The buffer that every connection of the loop reads into; what it holds is used up before the next read. */
    StagingBuffer input() {
        return input;
    }

    StagingBuffer acquireOutput() {
        StagingBuffer buffer = output.pollFirst();
        return buffer == null ? new StagingBuffer(stagingCapacity) : buffer;
    }

    void releaseOutput(StagingBuffer buffer) {
        if (output.size() < KEPT_PER_CLASS) {
            output.addFirst(buffer);
        }
    }

    WireBuffer acquireReassembly(int capacity) {
        int shift = Math.max(SMALLEST_REASSEMBLY_SHIFT, 32 - Integer.numberOfLeadingZeros(capacity - 1));
        int sizeClass = shift - SMALLEST_REASSEMBLY_SHIFT;
        WireBuffer buffer = sizeClass < REASSEMBLY_CLASSES ? reassembly[sizeClass].pollFirst() : null;
        return buffer == null ? WireBuffer.allocate(1 << shift) : buffer;
    }

    void releaseReassembly(WireBuffer buffer) {
        int sizeClass = 31 - Integer.numberOfLeadingZeros(buffer.capacity()) - SMALLEST_REASSEMBLY_SHIFT;
        if (sizeClass >= 0 && sizeClass < REASSEMBLY_CLASSES && reassembly[sizeClass].size() < KEPT_PER_CLASS) {
            reassembly[sizeClass].addFirst(buffer);
        }
    }

    /** Scratch for questions to the kernel about a connection. */
    EpollTcpInfo tcpInfo() {
        if (tcpInfo == null) {
            tcpInfo = new EpollTcpInfo();
        }
        return tcpInfo;
    }
}
