// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.sidewarp.engine.memory.WireBuffer;

/** One piece of direct memory, seen by Netty as a {@link ByteBuf} and by the engine as a {@link WireBuffer}. */
public final class StagingBuffer {

    private final WireBuffer wire;
    private final ByteBuf netty;

    public StagingBuffer(int capacity) {
        wire = WireBuffer.allocate(capacity);
        netty = Unpooled.wrappedBuffer(wire.nio());
    }

    public WireBuffer wire() {
        return wire;
    }

    /** Returns the address of the memory. It is valid as long as this object is reachable. */
    public long address() {
        return wire.segment().address();
    }

    /** Returns the view for a channel to read into. It is empty, and has one reference for the channel. */
    public ByteBuf forReading() {
        return netty.clear().retain();
    }

    /** Returns whether the given view belongs to this buffer. */
    @SuppressWarnings("ReferenceEquality") // not whether it holds the same octets
    boolean isBehind(ByteBuf view) {
        return view == netty;
    }

    /** Returns the view of the first bytes for a channel to write. It has one reference for the channel. */
    public ByteBuf forWriting(int octets) {
        return netty.setIndex(0, octets).retain();
    }

    /** Returns whether no channel holds a view any more. */
    public boolean isFree() {
        return netty.refCnt() == 1;
    }
}
