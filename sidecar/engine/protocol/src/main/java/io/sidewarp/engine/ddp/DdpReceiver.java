// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import io.sidewarp.engine.memory.AccessCheck;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.memory.StagTable;
import io.sidewarp.engine.memory.TaggedAccess;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.DdpError;
import io.sidewarp.engine.verbs.ProtocolError;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Inbound half of a DDP stream. Validates each segment before any byte of the segment is placed (RFC 5041 section 7.1),
 * places the segment, and delivers messages in order (section 5.4). The lower layer gives segments in the sender's
 * order. A message is therefore delivered as soon as its last segment is placed. Allocates nothing. Belongs to one
 * event loop.
 */
public final class DdpReceiver {

    private final TaggedHeaderFlyweight tagged = new TaggedHeaderFlyweight();
    private final UntaggedHeaderFlyweight untagged = new UntaggedHeaderFlyweight();
    private final DdpUser user;
    private final StagTable stags;
    private final RegionUser regionUser;
    private final int[] expectedMsn;
    /** For each queue number: true after a part of a message has arrived. */
    private final boolean[] insideUntagged;

    private int version = 1;
    private boolean failed;
    private long segments;
    private int segmentLength;

    /**
     * @param regionUser the stream, for STags that are restricted to some streams
     * @param queues number of queues; queue numbers 0 to {@code queues - 1} exist
     */
    public DdpReceiver(DdpUser user, StagTable stags, RegionUser regionUser, int queues) {
        this(user, stags, regionUser, queues, DdpSender.FIRST_MSN);
    }

    /** Creates a receiver that expects the given MSN on every queue number. */
    DdpReceiver(DdpUser user, StagTable stags, RegionUser regionUser, int queues, int msn) {
        this.user = user;
        this.stags = stags;
        this.regionUser = regionUser;
        this.expectedMsn = new int[queues];
        this.insideUntagged = new boolean[queues];
        Arrays.fill(expectedMsn, msn);
    }

    /** DDP version that segments must carry, as negotiated by the lower layer. */
    public void setVersion(int newVersion) {
        version = newVersion;
    }

    /** Drops all later input (RFC 5041 section 7.1, after an error). */
    public void stop() {
        failed = true;
    }

    /** Valid segments so far. */
    public long segments() {
        return segments;
    }

    /** Returns whether an untagged message has arrived in part and its last segment is still missing. */
    public boolean isInsideUntagged() {
        boolean inside = false;
        for (boolean insideQueue : insideUntagged) {
            inside |= insideQueue;
        }
        return inside;
    }

    /** Bytes of the segment that is being received, header included. */
    public int segmentLength() {
        return segmentLength;
    }

    /** Takes one segment from the lower layer. */
    public void onSegment(WireBuffer buffer, int offset, int length) {
        if (failed) {
            return;
        }
        segmentLength = length;
        ProtocolError error;
        try {
            if (length == 0) {
                error = DdpError.LOCAL_CATASTROPHIC;
            } else if (DdpHeaderFlyweight.isTagged(buffer.getUnsignedByte(offset))) {
                error = onTagged(buffer, offset, length);
            } else {
                error = onUntagged(buffer, offset, length);
            }
        } catch (RegionFault fault) {
            failed = true;
            user.onSegmentFault(fault, buffer, offset, length);
            return;
        }
        if (error != null) {
            failed = true;
            user.onSegmentError(error, buffer, offset, length);
        }
    }

    private @Nullable ProtocolError onTagged(WireBuffer buffer, int offset, int length) throws RegionFault {
        int payload = length - TaggedHeaderFlyweight.LENGTH;
        if (payload < 0) {
            return DdpError.LOCAL_CATASTROPHIC;
        }
        tagged.wrap(buffer, offset);
        return tagged.version() == version ? user.onTagged(this, tagged, payload) : DdpError.TAGGED_VERSION;
    }

    /**
     * Places the payload of the tagged segment that is being received. The user calls this once for a segment that may
     * be placed.
     *
     * @param requiredAccess access bits of the region that the segment needs
     * @return the error of the segment, or null
     */
    public @Nullable ProtocolError placeTagged(int requiredAccess) throws RegionFault {
        int payload = segmentLength - TaggedHeaderFlyweight.LENGTH;
        // A zero-length tagged message is not checked against any STag (section 5.2).
        if (payload > 0) {
            MemoryRegion region = stags.lookup(tagged.stag());
            long to = tagged.to();
            AccessCheck check = TaggedAccess.check(region, regionUser, requiredAccess, to, payload);
            if (check != AccessCheck.OK || region == null) {
                return toError(check);
            }
            long offset = to - region.baseTaggedOffset();
            int source = tagged.offset() + TaggedHeaderFlyweight.LENGTH;
            if (tagged.last()) {
                // The owner of the memory may poll the last byte of the message.
                region.placeLast(offset, tagged.buffer(), source, payload);
            } else {
                region.place(offset, tagged.buffer(), source, payload);
            }
        }
        segments++;
        return null;
    }

    /** Maps a failed check to an error. RFC 5041 has no code for a missing right, so such an STag counts as invalid. */
    private static DdpError toError(AccessCheck check) {
        return switch (check) {
            case OK, INVALID_STAG, NO_RIGHT -> DdpError.INVALID_STAG;
            case NOT_ASSOCIATED -> DdpError.STAG_NOT_ASSOCIATED;
            case BOUNDS -> DdpError.BASE_OR_BOUNDS;
            case WRAP -> DdpError.TO_WRAP;
        };
    }

    private @Nullable ProtocolError onUntagged(WireBuffer buffer, int offset, int length) throws RegionFault {
        int payload = length - UntaggedHeaderFlyweight.LENGTH;
        if (payload < 0) {
            return DdpError.LOCAL_CATASTROPHIC;
        }
        untagged.wrap(buffer, offset);
        if (untagged.version() != version) {
            return DdpError.UNTAGGED_VERSION;
        }
        if (Integer.compareUnsigned(untagged.qn(), expectedMsn.length) >= 0) {
            return DdpError.INVALID_QN;
        }
        return user.onUntagged(this, untagged, payload);
    }

    /**
     * Places the payload of the untagged segment that is being received. The user calls this once for a segment that
     * may be placed. Runs the checks of section 7.1 in their order. Checks the MSN also for segments without payload.
     *
     * @param buffers buffers of the queue number and kind of message
     * @return the error of the segment, or null
     */
    public @Nullable ProtocolError placeUntagged(UntaggedBuffers buffers) throws RegionFault {
        int payload = segmentLength - UntaggedHeaderFlyweight.LENGTH;
        int qn = untagged.qn();
        long mo = untagged.mo();
        if (untagged.msn() != expectedMsn[qn]) {
            return DdpError.MSN_RANGE;
        }
        if (!buffers.available()) {
            return DdpError.MSN_NO_BUFFER;
        }
        long capacity = buffers.capacity();
        if (mo > capacity) {
            return DdpError.INVALID_MO;
        }
        if (mo + payload > capacity) {
            return DdpError.MESSAGE_TOO_LONG;
        }
        if (payload > 0) {
            buffers.place(mo, untagged.buffer(), untagged.offset() + UntaggedHeaderFlyweight.LENGTH, payload);
        }
        segments++;
        insideUntagged[qn] = !untagged.last();
        if (untagged.last()) {
            expectedMsn[qn]++;
        }
        return null;
    }
}
