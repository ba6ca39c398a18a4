// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import io.sidewarp.engine.llp.ProtocolError;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/** The ULP above DDP, that is RDMAP: says what may be placed, and takes what is delivered. */
public interface DdpUser {

    /**
     * Judges a tagged segment before anything is placed. Writes nothing.
     *
     * @param payload bytes of payload
     * @return the error, or null when DDP may go on
     */
    @Nullable
    ProtocolError admitTagged(TaggedHeaderFlyweight header, int payload);

    /** Access bits that a tagged segment, admitted just now, needs of its region. */
    int requiredAccess(TaggedHeaderFlyweight header);

    /** The payload of an admitted tagged segment was placed; with {@code header.last()} the message is delivered. */
    void onTagged(TaggedHeaderFlyweight header, int payload);

    /** Judges an untagged segment, whose queue number exists, before anything is placed. */
    @Nullable
    ProtocolError admitUntagged(UntaggedHeaderFlyweight header, int payload);

    /** The buffers of the queue number and kind of message that an untagged segment, admitted just now, is of. */
    UntaggedBuffers untaggedBuffers(UntaggedHeaderFlyweight header);

    /** An untagged message is complete and delivered; its buffer is used up. */
    void onUntagged(UntaggedHeaderFlyweight header, long messageLength);

    /**
     * A segment is in error and was not placed; all later segments will be dropped (RFC 5041 section 7.1).
     *
     * @param buffer holds the segment, during this call
     * @param offset of the segment's first byte
     * @param length bytes of the whole segment
     */
    void onSegmentError(ProtocolError error, WireBuffer buffer, int offset, int length);

    /** The region failed while the payload of an admitted tagged segment was placed. All later segments are dropped. */
    void onTaggedFault(TaggedHeaderFlyweight header, RegionFault fault);

    /** The untagged buffer failed while the payload of a segment was placed. All later segments are dropped. */
    void onUntaggedFault(UntaggedHeaderFlyweight header, RegionFault fault);
}
