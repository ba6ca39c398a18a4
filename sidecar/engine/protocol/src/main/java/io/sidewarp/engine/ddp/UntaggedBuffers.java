// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;

/** The untagged buffers of one queue number. The methods apply to the next message in the MSN sequence. */
public interface UntaggedBuffers {

    /** True when a buffer is posted for the current or next message. */
    boolean available();

    /** Size in bytes of the buffer. */
    long capacity();

    /** Places bytes of the message in the buffer. */
    void place(long messageOffset, WireBuffer source, int sourceOffset, int length) throws RegionFault;
}
