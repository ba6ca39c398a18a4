// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;

/** The untagged buffers of one queue number, seen from the message that is next in its MSN sequence. */
public interface UntaggedBuffers {

    /** True when a buffer is posted for the message that is received now or next. */
    boolean available();

    /** Bytes of that buffer. */
    long capacity();

    /** Places bytes of the message into that buffer. */
    void place(long messageOffset, WireBuffer source, int sourceOffset, int length) throws RegionFault;
}
