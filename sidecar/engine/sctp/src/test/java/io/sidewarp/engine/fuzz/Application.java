// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.fuzz.GuardedRegions.Kind;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.rdmap.StreamState;
import io.sidewarp.engine.testing.Endpoint;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.Work;
import java.util.ArrayList;
import java.util.List;

/** The application of an endpoint. Posts work of every kind as a fuzzer says, and records the work. */
final class Application {

    static final int QUEUE_DEPTH = 16;
    static final int READS = 4;

    private static final int ATOMIC_LENGTH = 8;
    private static final int UNKNOWN_STAG = 0x1234_5678;

    private final GuardedRegions regions;
    private final WorkLedger ledger;
    private final List<Long> sent = new ArrayList<>();
    private GuardedRegions peerRegions;
    private Endpoint endpoint;
    private long nextId = 1;

    Application(GuardedRegions regions, WorkLedger ledger) {
        this.regions = regions;
        this.ledger = ledger;
    }

    /** Options of the endpoint that {@link #attach} takes. */
    EndpointOptions options() {
        return EndpointOptions.defaults()
                .memory(regions.memory())
                .queuePair(GuardedRegions.QUEUE_PAIR)
                .queueDepth(QUEUE_DEPTH)
                .reads(READS, READS)
                .sink(ledger);
    }

    /** Work names the peer's regions from now on, and not just any STag. */
    void setPeer(GuardedRegions regionsOfPeer) {
        peerRegions = regionsOfPeer;
    }

    void attach(Endpoint newEndpoint) {
        endpoint = newEndpoint;
    }

    /** Lengths of the Sends that were posted, oldest first. */
    List<Long> sent() {
        return sent;
    }

    /** Null before start-up is over. */
    Endpoint endpoint() {
        return endpoint;
    }

    /** Returns whether received data may still be placed. */
    boolean isPlacing() {
        StreamState state =
                endpoint == null ? StreamState.CLOSED : endpoint.stream().state();
        return state == StreamState.OPEN || state == StreamState.CLOSING;
    }

    /** Does one thing that an application may do at any time. */
    void act(FuzzInput in) {
        if (endpoint == null) {
            return;
        }
        switch (in.below(10)) {
            case 0, 1, 2 -> postReceive(in);
            case 3 -> post(in, endpoint.write(nextId), false);
            case 4, 5 -> post(in, endpoint.read(nextId), true);
            case 6 -> send(in);
            case 7 -> regions.invalidate(Kind.of(in.octet()));
            case 8 -> regions.deregister(Kind.of(in.octet()));
            default -> end(in);
        }
    }

    private void end(FuzzInput in) {
        int what = in.octet();
        if (what >= 0x80) {
            postAtomic(in, what);
        } else if (what % 4 == 0) {
            endpoint.stream().abort();
        } else {
            endpoint.stream().close();
        }
    }

    private void postAtomic(FuzzInput in, int what) {
        if (endpoint.sendQueue().outstanding() == QUEUE_DEPTH) {
            return;
        }
        int offset = in.octet() * 8;
        ledger.posting(nextId, true, true, offset, ATOMIC_LENGTH);
        Work work = what % 2 == 0
                ? endpoint.fetchAdd(nextId, in.octet())
                : endpoint.compareSwap(nextId, in.octet(), in.octet());
        nextId++;
        post(in, work.with(regions.get(Kind.LOCAL), offset, ATOMIC_LENGTH));
    }

    private void postReceive(FuzzInput in) {
        if (endpoint.receiveQueue().outstanding() == QUEUE_DEPTH) {
            return;
        }
        int offset = in.octet() * 8;
        int length = in.octet() * 8;
        int cut = length == 0 ? 0 : in.octet() * length >> 8;
        ledger.postingReceive(nextId, offset, length);
        MemoryRegion region = regions.get(Kind.LOCAL);
        Work work = endpoint.receive(nextId++);
        if (length > 0) {
            work.with(region, offset, cut).with(region, (long) offset + cut, (long) length - cut);
        }
        work.post();
    }

    private void send(FuzzInput in) {
        long length = post(in, endpoint.send(nextId), false);
        if (length >= 0) {
            sent.add(length);
        }
    }

    /** Posts work if there is room, and returns its length or -1. */
    private long post(FuzzInput in, Work work, boolean read) {
        if (endpoint.sendQueue().outstanding() == QUEUE_DEPTH) {
            return -1;
        }
        int flags = in.octet();
        int offset = in.octet() * 8;
        int length = in.octet() * 8;
        boolean signaled = (flags & 1) == 0;
        ledger.posting(nextId++, signaled, read, offset, length);
        Kind from = read ? Kind.LOCAL : Kind.of(flags >> 4);
        if (length > 0) {
            work.with(regions.get(from), offset, length);
        }
        if (!signaled) {
            work.unsignaled();
        }
        if ((flags & 2) != 0) {
            work.fenced();
        }
        post(in, work);
        return length;
    }

    /** Names the peer's memory and posts. */
    private void post(FuzzInput in, Work work) {
        if (peerRegions == null) {
            work.remote(UNKNOWN_STAG, 0x1000);
        } else {
            MemoryRegion remote = peerRegions.get(Kind.of(in.octet()));
            work.remote(remote.stag(), remote.baseTaggedOffset() + in.octet() * 8L);
        }
        work.post();
    }
}
