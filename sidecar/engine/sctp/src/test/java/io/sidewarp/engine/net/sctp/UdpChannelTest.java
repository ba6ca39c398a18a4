// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.net.StagingBuffer;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that buffers of a UDP socket are released after failures. */
final class UdpChannelTest implements UdpChannel.Receiver {

    private static final int PACKET = 1000;
    private static final int BUFFERS = 2;

    private EngineLoops loops;
    private UdpChannel channel;
    private boolean memoryIsShort;

    @BeforeEach
    void open() {
        loops = EngineLoops.create(1, NetSettings.defaults());
        channel = new UdpChannel(loops, this, PACKET, BUFFERS * 2 * PACKET, this::allocate);
    }

    @AfterEach
    void close() {
        loops.close();
    }

    private StagingBuffer allocate(int capacity) {
        if (memoryIsShort) {
            throw new OutOfMemoryError("played");
        }
        return new StagingBuffer(capacity);
    }

    @Override
    public void onDatagram(WireBuffer buffer, int length, InetSocketAddress sender) {}

    @Override
    public void onBatchDone() {}

    @Test
    void failedAllocationLeavesTheNumberOfBuffersAsItWas() {
        memoryIsShort = true;
        for (int i = 0; i < 2 * BUFFERS; i++) {
            assertThatThrownBy(() -> channel.acquire(PACKET)).isInstanceOf(OutOfMemoryError.class);
        }
        memoryIsShort = false;

        for (int i = 0; i < BUFFERS; i++) {
            assertThat(channel.acquire(PACKET)).isNotNull();
        }
        assertThat(channel.acquire(PACKET)).isNull();
    }

    @Test
    void failedWriteGivesTheBufferBack() {
        InetSocketAddress anywhere = new InetSocketAddress("127.0.0.1", 9);
        for (int i = 0; i < 2 * BUFFERS; i++) {
            StagingBuffer buffer = channel.acquire(PACKET);
            assertThat(buffer).isNotNull();
            assertThatThrownBy(() -> channel.write(buffer, Integer.MAX_VALUE, anywhere))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }
}
