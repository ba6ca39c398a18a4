// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Takes the packets of an {@link SctpSocket}. The methods are called from within the protocol's code, by the thread
 * that called it or that ran its timers. They must not call the protocol, and must not throw.
 */
public interface SctpPacketOutput {

    /** Returns a buffer for a packet, or null when the packet is to be dropped. */
    @Nullable
    WireBuffer acquirePacket(int length);

    /** Takes a packet in the buffer, without checksum. */
    void onPacket(WireBuffer packet, int length);
}
