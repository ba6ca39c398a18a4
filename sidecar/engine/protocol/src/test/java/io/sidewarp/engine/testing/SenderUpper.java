// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.ddp.DdpSender;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import java.util.List;

/** A {@link DdpSender} alone above a wire. */
public final class SenderUpper implements UpperLayer {

    private final WireEnd wire;
    private final DdpSender sender;

    public SenderUpper(WireEnd wire, DdpSender sender) {
        this.wire = wire;
        this.sender = sender;
    }

    /** Sends what the sender has, and takes it off the wire. A failure of the source is the cause of what is thrown. */
    public List<Segment> output() {
        wire.requestOutput();
        for (int i = 0; i < Link.MOST_TURNS && sender.isActive(); i++) {
            wire.output();
        }
        return wire.takeAll();
    }

    @Override
    public void produce() {
        try {
            sender.emit(wire);
        } catch (RegionFault e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void onUlpdu(WireBuffer buffer, int offset, int length) {
        throw new AssertionError("no input is expected");
    }

    @Override
    public void onInputDone() {}

    @Override
    public void onTransferred() {}

    @Override
    public void onError(LlpError error) {
        throw new AssertionError("no error is expected");
    }

    @Override
    public void onPeerClosed() {}

    @Override
    public void onClosed(boolean graceful, String cause) {}
}
