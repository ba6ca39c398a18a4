// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.ProtocolError;
import org.jspecify.annotations.Nullable;

/** The ULP above DDP, which is RDMAP. Decides what may be placed, and takes delivered messages. */
public interface DdpUser {

    /**
     * Takes a tagged segment of the right version. Checks the segment, has {@link DdpReceiver#placeTagged} place its
     * payload, and takes the message that ends with the segment.
     *
     * @param payload bytes of payload
     * @return the error of the segment, or null. DDP drops all later segments after an error (RFC 5041 section 7.1)
     */
    @Nullable
    ProtocolError onTagged(DdpReceiver ddp, TaggedHeaderFlyweight header, int payload) throws RegionFault;

    /**
     * Takes an untagged segment of the right version, whose queue number exists. Checks the segment, has
     * {@link DdpReceiver#placeUntagged} place its payload, and takes the message that ends with the segment.
     *
     * @param payload bytes of payload
     * @return the error of the segment, or null. DDP drops all later segments after an error (RFC 5041 section 7.1)
     */
    @Nullable
    ProtocolError onUntagged(DdpReceiver ddp, UntaggedHeaderFlyweight header, int payload) throws RegionFault;

    /**
     * Reports the error of a segment that was not placed.
     *
     * @param buffer buffer that holds the segment during this call
     * @param offset offset of the first byte of the segment
     * @param length bytes of the whole segment
     */
    void onSegmentError(ProtocolError error, WireBuffer buffer, int offset, int length);

    /** Reports memory that failed while a segment was placed. All later segments are dropped. */
    void onSegmentFault(RegionFault fault, WireBuffer buffer, int offset, int length);
}
