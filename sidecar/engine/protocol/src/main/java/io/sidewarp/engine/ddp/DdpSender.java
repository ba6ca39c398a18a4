// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.memory.RegionFault;
import java.util.Arrays;

/**
 * Outbound half of a DDP stream. Cuts one message after the other into segments (RFC 5041 section 5.2) and never
 * interleaves messages. Allocates nothing. Belongs to one event loop.
 */
public final class DdpSender {

    /** The first MSN of every queue number (RFC 5041 section 4.3). */
    public static final int FIRST_MSN = 1;

    /** A message has fewer than 2^32 bytes (RFC 5041 section 5.2). */
    public static final long MAX_MESSAGE_LENGTH = 0xFFFF_FFFFL;

    private final TaggedHeaderFlyweight taggedHeader = new TaggedHeaderFlyweight();
    private final UntaggedHeaderFlyweight untaggedHeader = new UntaggedHeaderFlyweight();
    private final int[] nextMsn;

    private boolean active;
    private boolean tagged;
    private int ulpControl;
    private int ulpWord;
    private int stag;
    private long taggedOffset;
    private int qn;
    private int msn;
    private PayloadSource source = NO_PAYLOAD;
    private long length;
    private long sent;
    private long segments;

    private static final PayloadSource NO_PAYLOAD = (messageOffset, target, targetOffset, octets) -> {
        throw new IllegalStateException("no message is being sent");
    };

    /** @param queues number of queues; queue numbers 0 to {@code queues - 1} exist */
    public DdpSender(int queues) {
        this(queues, FIRST_MSN);
    }

    /** Creates a sender whose next message has the given MSN on every queue number. */
    DdpSender(int queues, int msn) {
        nextMsn = new int[queues];
        Arrays.fill(nextMsn, msn);
    }

    /** True from the beginning of a message until its last segment is committed. */
    public boolean isActive() {
        return active;
    }

    /** Payload bytes of the current message that were committed. */
    public long sent() {
        return sent;
    }

    /** Segments committed since the beginning. */
    public long segments() {
        return segments;
    }

    /** Begins a tagged message. */
    public void beginTagged(int newUlpControl, int newStag, long newTaggedOffset, PayloadSource from, long octets) {
        begin(true, newUlpControl, from, octets);
        stag = newStag;
        taggedOffset = newTaggedOffset;
    }

    /**
     * Begins an untagged message and takes the next MSN of its queue number.
     *
     * @param newUlpWord ULP-reserved bytes 2 to 5
     * @return the MSN
     */
    public int beginUntagged(int newUlpControl, int newUlpWord, int queueNumber, PayloadSource from, long octets) {
        begin(false, newUlpControl, from, octets);
        ulpWord = newUlpWord;
        qn = queueNumber;
        msn = nextMsn[queueNumber]++;
        return msn;
    }

    private void begin(boolean isTagged, int newUlpControl, PayloadSource from, long octets) {
        if (active) {
            throw new IllegalStateException("a message is being sent");
        }
        if (octets < 0 || octets > MAX_MESSAGE_LENGTH) {
            throw new IllegalArgumentException("a DDP message has 0 to 2^32 - 1 bytes, not " + octets);
        }
        active = true;
        tagged = isTagged;
        ulpControl = newUlpControl;
        source = from;
        length = octets;
        sent = 0;
    }

    /** Abandons the rest of the current message. Legal only when nothing but a Terminate follows on this stream. */
    public void abandon() {
        active = false;
        source = NO_PAYLOAD;
    }

    /**
     * Commits segments of the current message while the lower layer takes them.
     *
     * @return true when the message is complete, false when the lower layer refused a claim
     * @throws RegionFault when the source failed; the segment that needed the source was not sent
     */
    public boolean emit(LowerLayer llp) throws RegionFault {
        int headerLength = tagged ? TaggedHeaderFlyweight.LENGTH : UntaggedHeaderFlyweight.LENGTH;
        while (active) {
            int payload = (int) Math.min(length - sent, llp.mulpdu() - headerLength);
            if (!llp.claim(headerLength + payload)) {
                return false;
            }
            boolean last = sent + payload == length;
            int at = llp.offset();
            if (payload > 0) {
                source.fetch(sent, llp.buffer(), at + headerLength, payload);
            }
            if (tagged) {
                taggedHeader.wrap(llp.buffer(), at);
                taggedHeader.set(last, llp.protocolVersion(), ulpControl, stag, taggedOffset + sent);
            } else {
                untaggedHeader.wrap(llp.buffer(), at);
                untaggedHeader.set(last, llp.protocolVersion(), ulpControl, ulpWord, qn, msn, (int) sent);
            }
            llp.commit();
            segments++;
            sent += payload;
            if (last) {
                abandon();
            }
        }
        return true;
    }
}
