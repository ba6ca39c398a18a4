// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import io.sidewarp.engine.verbs.ProtocolError;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/** The ULP above DDP, which is RDMAP. Decides what may be placed, and takes delivered messages. */
public interface DdpUser {

    /**
     * Checks a tagged segment before any payload is placed. Writes nothing.
     *
     * @param payload bytes of payload
     * @return the error, or null when DDP may continue
     */
    @Nullable
    ProtocolError admitTagged(TaggedHeaderFlyweight header, int payload);

    /** Access bits of the region that a tagged segment needs. The segment has just been admitted. */
    int requiredAccess(TaggedHeaderFlyweight header);

    /** Reports that the payload of an admitted tagged segment was placed. The last segment delivers the message. */
    void onTagged(TaggedHeaderFlyweight header, int payload);

    /** Checks an untagged segment before any payload is placed. The queue number of the segment exists. */
    @Nullable
    ProtocolError admitUntagged(UntaggedHeaderFlyweight header, int payload);

    /** Buffers for an untagged segment, by its queue number and kind of message. The segment has just been admitted. */
    UntaggedBuffers untaggedBuffers(UntaggedHeaderFlyweight header);

    /** Reports that an untagged message is complete and delivered. The buffer of the message is used up. */
    void onUntagged(UntaggedHeaderFlyweight header, long messageLength);

    /**
     * Reports a segment in error that was not placed. All later segments will be dropped (RFC 5041 section 7.1).
     *
     * @param buffer buffer that holds the segment during this call
     * @param offset offset of the first byte of the segment
     * @param length bytes of the whole segment
     */
    void onSegmentError(ProtocolError error, WireBuffer buffer, int offset, int length);

    /** Reports a region that failed while DDP placed an admitted tagged segment. All later segments are dropped. */
    void onTaggedFault(TaggedHeaderFlyweight header, RegionFault fault);

    /** Reports an untagged buffer that failed while DDP placed a segment. All later segments are dropped. */
    void onUntaggedFault(UntaggedHeaderFlyweight header, RegionFault fault);
}
