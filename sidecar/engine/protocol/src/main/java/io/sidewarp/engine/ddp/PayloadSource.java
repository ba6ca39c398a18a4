// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;

/** Source of the bytes of an outbound message. */
public interface PayloadSource {

    /**
     * Copies bytes of the message. DDP asks for ascending, consecutive parts.
     *
     * @param messageOffset bytes from the beginning of the message
     * @throws RegionFault when the memory is no longer usable; no byte of this part was sent
     */
    void fetch(long messageOffset, WireBuffer target, int targetOffset, int length) throws RegionFault;
}
