// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.StagingBuffer;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Sends the packets of an association. They come from within the protocol's code and are put into buffers of the UDP
 * socket. Packets that come on the thread of another loop, when timers of the protocol run there, are handed over as
 * copies.
 *
 * <p>From these packets this class learns which tags the peer will answer with, which TSNs were sent, and why SCTP
 * aborts. A packet that is larger than the path is known to carry is split, chunk by chunk.
 */
final class AssociationOutput implements SctpPacketOutput {

    /**
     * Number of INIT ACKs whose tags are kept while the association begins. The peer may have sent several INITs, and
     * may answer any of these INIT ACKs.
     */
    private static final int TAGS = 4;

    private final UdpEndpoint endpoint;
    private final UdpAssociation association;
    private final TsnTracker tsns;
    private final PathProbe path;
    private final ArrayDeque<Integer> tags = new ArrayDeque<>(TAGS + 1);
    private InetSocketAddress remote;
    private @Nullable StagingBuffer packet;
    private boolean settled;
    /** The Verification Tag that the peer wants; 0 while unknown. */
    private int peerTag;

    private boolean closed;

    AssociationOutput(UdpEndpoint endpoint, UdpAssociation association, TsnTracker tsns, PathProbe path, PeerKey peer) {
        this.endpoint = endpoint;
        this.association = association;
        this.tsns = tsns;
        this.path = path;
        this.remote = new InetSocketAddress(peer.address(), peer.udpPort());
    }

    /** Sets the destination of further packets. */
    void sendTo(PeerKey peer) {
        remote = new InetSocketAddress(peer.address(), peer.udpPort());
    }

    /**
     * Notes that the association is up, and that the peer's packets bear the given tag. Tags that are offered to later
     * INITs do not belong to the association. Anybody may send such INITs, and their tags would push out this tag (RFC
     * 4960 section 5.2.2).
     */
    void settle(int tag) {
        settled = true;
        forgetTags();
        tags.addLast(tag);
        endpoint.addTag(tag, association);
    }

    private void forgetTags() {
        tags.forEach(tag -> endpoint.removeTag(tag, association));
        tags.clear();
    }

    /** Ends the output: packets with the association's tags no longer belong to it, and nothing is sent for it. */
    void close() {
        closed = true;
        forgetTags();
    }

    @Override
    public @Nullable WireBuffer acquirePacket(int length) {
        if (!endpoint.loop().inEventLoop()) {
            return WireBuffer.allocate(length);
        }
        packet = endpoint.output().acquire(length);
        return packet == null ? null : packet.wire();
    }

    @Override
    public void onPacket(WireBuffer output, int length) {
        if (endpoint.loop().inEventLoop()) {
            StagingBuffer acquired = packet;
            packet = null;
            if (acquired != null) {
                write(acquired, length);
            }
        } else {
            endpoint.loop().execute(() -> writeCopy(output, length));
        }
    }

    private void writeCopy(WireBuffer output, int length) {
        StagingBuffer buffer = closed ? null : endpoint.output().acquire(length);
        if (buffer != null) {
            buffer.wire().putBytes(0, output, 0, length);
            write(buffer, length);
            endpoint.output().flush();
        }
    }

    private void write(StagingBuffer buffer, int length) {
        try {
            inspectOutput(buffer.wire(), length);
        } catch (RuntimeException | Error e) {
            endpoint.output().release(buffer);
            throw e;
        }
        int packetSize = path.packetSize();
        if (length <= packetSize) {
            endpoint.output().write(buffer, length, remote, packetSize);
        } else {
            part(buffer, length, packetSize);
        }
    }

    private void part(StagingBuffer whole, int length, int packetSize) {
        WireBuffer chunks = whole.wire();
        int begin = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
        int end = endOfPart(chunks, begin, length, packetSize);
        if (end == length) {
            // A single chunk cannot be split.
            endpoint.output().write(whole, length, remote, packetSize);
            return;
        }
        try {
            while (begin < length) {
                writePart(chunks, begin, end);
                begin = end;
                end = endOfPart(chunks, begin, length, packetSize);
            }
        } finally {
            endpoint.output().release(whole);
        }
    }

    /** Returns the end of the chunks that fit into a packet, at least one chunk. */
    private static int endOfPart(WireBuffer chunks, int begin, int length, int packetSize) {
        int most = begin + packetSize - SctpPacketFlyweight.COMMON_HEADER_LENGTH;
        int end = begin;
        while (SctpPacketFlyweight.isChunk(chunks, end, length)) {
            int next = Math.min(SctpPacketFlyweight.nextChunk(chunks, end), length);
            if (next > most && end > begin) {
                return end;
            }
            end = next;
        }
        return end > begin ? end : length;
    }

    private void writePart(WireBuffer chunks, int begin, int end) {
        int header = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
        int length = header + end - begin;
        StagingBuffer part = endpoint.output().acquire(length);
        if (part == null) {
            return;
        }
        part.wire().putBytes(0, chunks, 0, header);
        part.wire().putBytes(header, chunks, begin, end - begin);
        endpoint.output().write(part, length, remote, path.packetSize());
    }

    /** Sends a probe of the path if one is due. */
    void probe(long nanoTime) {
        if (closed || peerTag == 0 || !path.isDue(nanoTime)) {
            return;
        }
        StagingBuffer buffer = endpoint.output().acquire(endpoint.packetSize());
        if (buffer == null) {
            return;
        }
        PeerKey peer = association.key();
        SctpPacketFlyweight.header(buffer.wire(), peer.localPort(), peer.remotePort(), peerTag);
        int length = path.write(buffer.wire(), nanoTime);
        endpoint.output().write(buffer, length, remote, length);
    }

    private void inspectOutput(WireBuffer output, int length) {
        for (int chunk = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
                SctpPacketFlyweight.isChunk(output, chunk, length);
                chunk = SctpPacketFlyweight.nextChunk(output, chunk)) {
            int type = SctpPacketFlyweight.chunkType(output, chunk);
            if (type == SctpPacketFlyweight.COOKIE_ECHO || type == SctpPacketFlyweight.COOKIE_ACK) {
                peerTag = SctpPacketFlyweight.verificationTag(output);
            } else if (type == SctpPacketFlyweight.DATA) {
                tsns.onSent(SctpPacketFlyweight.chunkValue(output, chunk));
            } else if (type == SctpPacketFlyweight.INIT || type == SctpPacketFlyweight.INIT_ACK) {
                onTag(SctpPacketFlyweight.chunkValue(output, chunk));
            } else if (type == SctpPacketFlyweight.ABORT && settled) {
                association.onAborting(AbortCause.describeOwn(
                        output,
                        chunk + SctpPacketFlyweight.CHUNK_HEADER_LENGTH,
                        chunk + SctpPacketFlyweight.chunkLength(output, chunk)));
            }
        }
    }

    private void onTag(int tag) {
        if (!settled && !tags.contains(tag)) {
            tags.addLast(tag);
            endpoint.addTag(tag, association);
            if (tags.size() > TAGS) {
                endpoint.removeTag(tags.removeFirst(), association);
            }
        }
    }
}
