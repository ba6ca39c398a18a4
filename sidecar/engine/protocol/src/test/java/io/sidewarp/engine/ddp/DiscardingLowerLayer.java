// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.memory.WireBuffer;

/** A lower layer that accepts everything and shows each ULPDU once, always in the same buffer. */
abstract class DiscardingLowerLayer implements LowerLayer {

    private final WireBuffer buffer;
    private final int mulpdu;
    private int claimed;
    private long position;

    DiscardingLowerLayer(int mulpdu) {
        this.mulpdu = mulpdu;
        buffer = WireBuffer.allocate(mulpdu);
    }

    /** A ULPDU was committed. */
    protected abstract void onCommit(WireBuffer from, int offset, int length);

    @Override
    public int mulpdu() {
        return mulpdu;
    }

    @Override
    public int protocolVersion() {
        return 1;
    }

    @Override
    public boolean claim(int ulpduLength) {
        claimed = ulpduLength;
        return true;
    }

    @Override
    public WireBuffer buffer() {
        return buffer;
    }

    @Override
    public int offset() {
        return 0;
    }

    @Override
    public void commit() {
        position += claimed;
        onCommit(buffer, 0, claimed);
    }

    @Override
    public long committedPosition() {
        return position;
    }

    @Override
    public long transferredPosition() {
        return position;
    }

    @Override
    public boolean outputPermitted() {
        return true;
    }

    @Override
    public void requestOutput() {}

    @Override
    public void closeOutput() {}

    @Override
    public void close() {}

    @Override
    public void abort() {}

    @Override
    public boolean abortReachesPeer() {
        return true;
    }
}
