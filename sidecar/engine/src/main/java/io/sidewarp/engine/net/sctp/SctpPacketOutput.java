// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Takes the packets of an {@link SctpSocket}. Called from within the protocol's code, by the thread that called it or that
 * let its timers run: must not call it back, and must not throw.
 */
public interface SctpPacketOutput {

    /** A buffer for a packet, or null when it is to be dropped. */
    @Nullable
    WireBuffer acquirePacket(int length);

    /** The buffer holds a packet, without checksum. */
    void onPacket(WireBuffer packet, int length);
}
