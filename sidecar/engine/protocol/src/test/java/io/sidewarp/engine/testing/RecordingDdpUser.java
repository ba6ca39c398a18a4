// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.ddp.DdpReceiver;
import io.sidewarp.engine.ddp.DdpUser;
import io.sidewarp.engine.ddp.TaggedHeaderFlyweight;
import io.sidewarp.engine.ddp.UntaggedBuffers;
import io.sidewarp.engine.ddp.UntaggedHeaderFlyweight;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.ProtocolError;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A ULP of DDP that accepts everything and records all notifications. */
public final class RecordingDdpUser implements DdpUser {

    /**
     * A delivered message, or a placed tagged segment.
     *
     * @param length bytes of an untagged message, or of the payload of a tagged segment
     * @param octets bytes of an untagged message, otherwise empty
     */
    public record Delivery(
            int control, int ulpControl, int ulpWord, int qn, int msn, int stag, long to, long length, byte[] octets) {

        public boolean last() {
            return (control & 0x40) != 0;
        }
    }

    /** An error with the segment that caused it. */
    public record Refusal(ProtocolError error, byte[] segment) {}

    private final List<Delivery> untagged = new ArrayList<>();
    private final List<Delivery> tagged = new ArrayList<>();
    private final List<Refusal> refusals = new ArrayList<>();
    private final List<RegionFault> faults = new ArrayList<>();
    private final List<Buffers> queues = new ArrayList<>();

    /** @param queueCount queue numbers from 0 on that exist */
    public RecordingDdpUser(int queueCount) {
        for (int i = 0; i < queueCount; i++) {
            queues.add(new Buffers());
        }
    }

    /** Posts a buffer to a queue number. */
    public void post(int qn, int capacity) {
        queues.get(qn).posted.add(new byte[capacity]);
    }

    /** The buffer that is filled now or next. */
    public byte[] buffer(int qn) {
        return queues.get(qn).posted.element();
    }

    /** Buffers that are left. */
    public int buffers(int qn) {
        return queues.get(qn).posted.size();
    }

    /** Delivered untagged messages. */
    public List<Delivery> untagged() {
        return untagged;
    }

    /** Placed tagged segments. */
    public List<Delivery> tagged() {
        return tagged;
    }

    /** Errors. */
    public List<Refusal> refusals() {
        return refusals;
    }

    /** Returns the only error. */
    public ProtocolError error() {
        if (refusals.size() != 1) {
            throw new AssertionError("expected one error, not " + refusals);
        }
        return refusals.getFirst().error();
    }

    /** Faults of local memory. */
    public List<RegionFault> faults() {
        return faults;
    }

    /** True when nothing was placed, delivered or refused. */
    public boolean isUntouched() {
        return untagged.isEmpty() && tagged.isEmpty() && refusals.isEmpty() && faults.isEmpty();
    }

    @Override
    public @Nullable ProtocolError onTagged(DdpReceiver ddp, TaggedHeaderFlyweight header, int payload)
            throws RegionFault {
        ProtocolError error = ddp.placeTagged(AccessRight.REMOTE_WRITE.bit());
        if (error == null) {
            tagged.add(new Delivery(
                    header.control(), header.ulpControl(), 0, 0, 0, header.stag(), header.to(), payload, new byte[0]));
        }
        return error;
    }

    @Override
    public @Nullable ProtocolError onUntagged(DdpReceiver ddp, UntaggedHeaderFlyweight header, int payload)
            throws RegionFault {
        Buffers buffers = queues.get(header.qn());
        ProtocolError error = ddp.placeUntagged(buffers);
        if (error == null && header.last()) {
            untagged.add(new Delivery(
                    header.control(),
                    header.ulpControl(),
                    header.ulpWord(),
                    header.qn(),
                    header.msn(),
                    0,
                    0,
                    header.mo() + payload,
                    buffers.posted.remove()));
        }
        return error;
    }

    @Override
    public void onSegmentError(ProtocolError error, WireBuffer buffer, int offset, int length) {
        refusals.add(new Refusal(error, Octets.of(buffer, offset, length)));
    }

    @Override
    public void onSegmentFault(RegionFault fault, WireBuffer buffer, int offset, int length) {
        faults.add(fault);
    }

    /** Buffers of one queue number. */
    private static final class Buffers implements UntaggedBuffers {

        private final ArrayDeque<byte[]> posted = new ArrayDeque<>();

        @Override
        public boolean available() {
            return !posted.isEmpty();
        }

        @Override
        public long capacity() {
            return posted.isEmpty() ? 0 : posted.element().length;
        }

        @Override
        public void place(long messageOffset, WireBuffer source, int sourceOffset, int length) {
            source.getBytes(sourceOffset, posted.element(), (int) messageOffset, length);
        }
    }
}
