// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.PayloadSource;
import io.sidewarp.engine.ddp.UntaggedBuffers;
import io.sidewarp.engine.memory.WireBuffer;
import java.util.function.BooleanSupplier;

/**
 * Buffer for one message of the protocol itself, such as a Read Request or a Terminate. An inbound buffer is an
 * untagged buffer. For most messages, the inbound buffer is always available (RFC 5040 sections 5.2.2 and 5.4). An
 * outbound buffer holds the payload of a message.
 */
class ControlBuffer implements UntaggedBuffers, PayloadSource {

    private final WireBuffer octets;
    private final BooleanSupplier available;

    /** Creates a buffer that is always available. */
    ControlBuffer(int capacity) {
        this(capacity, () -> true);
    }

    /** @param available returns whether a message may use the buffer now */
    ControlBuffer(int capacity, BooleanSupplier available) {
        this.available = available;
        octets = WireBuffer.allocate(capacity);
    }

    /** Returns the bytes of the message. */
    WireBuffer octets() {
        return octets;
    }

    @Override
    public boolean available() {
        return available.getAsBoolean();
    }

    @Override
    public long capacity() {
        return octets.capacity();
    }

    @Override
    public void place(long messageOffset, WireBuffer source, int sourceOffset, int length) {
        octets.putBytes((int) messageOffset, source, sourceOffset, length);
    }

    @Override
    public void fetch(long messageOffset, WireBuffer target, int targetOffset, int length) {
        target.putBytes(targetOffset, octets, (int) messageOffset, length);
    }
}
