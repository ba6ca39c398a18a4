// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.ddp.PayloadSource;
import io.sidewarp.engine.ddp.UntaggedHeaderFlyweight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionFault;
import io.sidewarp.engine.memory.WireBuffer;
import org.jspecify.annotations.Nullable;

/**
 * RDMA Read Requests and Atomic Requests of the peer that wait for their response. At most IRD of them wait together
 * (RFC 5040 section 6.1, RFC 7306 section 5.2). Responses are sent in the order of the requests (RFC 5040 section 5.5
 * rule 20, RFC 7306 section 7). A slot is allocated at its first use.
 */
final class InboundRequests {

    private final ControlBuffer atomicResponse = new ControlBuffer(AtomicResponseFlyweight.LENGTH);
    private final AtomicResponseFlyweight atomicResponseHeader = new AtomicResponseFlyweight(atomicResponse.octets());
    private final @Nullable Request[] ring;
    private int first;
    private int count;

    InboundRequests(int ird) {
        ring = new Request[ird];
    }

    boolean isFull() {
        return count == ring.length;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Returns the IRD. */
    int capacity() {
        return ring.length;
    }

    /** Returns the request that is answered next. The queue must not be empty. */
    Request oldest() {
        Request request = ring[first];
        if (count == 0 || request == null) {
            throw new IllegalStateException("no request is waiting");
        }
        return request;
    }

    /** Returns a slot for one more request. The queue must not be full. */
    Request add() {
        int index = (first + count) % ring.length;
        count++;
        Request request = ring[index];
        if (request == null) {
            request = new Request();
            ring[index] = request;
        }
        return request;
    }

    /** Returns the response of the oldest request, which must be an Atomic Request. */
    PayloadSource atomicResponse() {
        Request request = oldest();
        atomicResponseHeader.set(request.identifier, request.original);
        return atomicResponse;
    }

    void removeOldest() {
        oldest().region = null;
        first = (first + 1) % ring.length;
        count--;
    }

    void clear() {
        while (count > 0) {
            removeOldest();
        }
    }

    /** One request. An RDMA Read Request is also the source of its response. */
    static final class Request implements PayloadSource {

        private final byte[] ddpHeader = new byte[UntaggedHeaderFlyweight.LENGTH];
        private @Nullable MemoryRegion region;
        private int sinkStag;
        private long sinkTo;
        private long size;
        private int srcStag;
        private long srcTo;
        private boolean atomic;
        private int identifier;
        private long original;

        /** @param source the checked source, or null for a request of no bytes */
        void set(UntaggedHeaderFlyweight header, ReadRequestFlyweight request, @Nullable MemoryRegion source) {
            header.buffer().getBytes(header.offset(), ddpHeader, 0, ddpHeader.length);
            region = source;
            sinkStag = request.sinkStag();
            sinkTo = request.sinkTo();
            size = request.rdmaRdSz();
            srcStag = request.srcStag();
            srcTo = request.srcTo();
            atomic = false;
        }

        /** Stores an Atomic Request that was carried out. */
        void set(AtomicRequestFlyweight request, long originalValue) {
            region = null;
            size = 0;
            atomic = true;
            identifier = request.requestIdentifier();
            original = originalValue;
        }

        boolean isAtomic() {
            return atomic;
        }

        /** Opcode of the response. */
        int responseOpcode() {
            return atomic ? RdmapControl.ATOMIC_RESPONSE : RdmapControl.RDMA_READ_RESPONSE;
        }

        int sinkStag() {
            return sinkStag;
        }

        long sinkTo() {
            return sinkTo;
        }

        long size() {
            return size;
        }

        int srcStag() {
            return srcStag;
        }

        long srcTo() {
            return srcTo;
        }

        /** DDP header of the segment of the request. */
        byte[] ddpHeader() {
            return ddpHeader;
        }

        @Override
        public void fetch(long messageOffset, WireBuffer target, int targetOffset, int length) throws RegionFault {
            MemoryRegion source = region;
            if (source == null) {
                throw new IllegalStateException("a read of no bytes has no source");
            }
            // A region that was enabled with another key is valid, but the STag of the request no longer is.
            if (!source.isValid() || source.stag() != srcStag) {
                throw new RegionFault(source, "STag 0x%08x is not usable any more: %s".formatted(srcStag, source));
            }
            source.fetch(srcTo - source.baseTaggedOffset() + messageOffset, target, targetOffset, length);
        }
    }
}
