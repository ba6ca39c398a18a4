// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.rdmap.Receives;
import io.sidewarp.engine.rdmap.StreamSettings;
import io.sidewarp.engine.rdmap.WqeQueue;
import io.sidewarp.engine.verbs.WrOpcode;

/** A stream with its queues, its memory and a recorder of its notifications. */
public final class Endpoint implements AutoCloseable {

    private final TestMemory memory;
    private final boolean ownMemory;
    private final long queuePair;
    private final WqeQueue sendQueue;
    private final WqeQueue receiveQueue;
    private final RecordingSink completions = new RecordingSink();
    private final RecordingListener events = new RecordingListener();
    private final RdmapStream stream;

    /** A stream over a lower layer in full operation. */
    public Endpoint(LowerLayer llp, EndpointOptions options) {
        ownMemory = options.memory() == null;
        memory = ownMemory ? new TestMemory() : options.memory();
        queuePair = options.queuePair();
        sendQueue = new WqeQueue(options.queueDepth());
        receiveQueue = new WqeQueue(options.queueDepth());
        stream = new RdmapStream(
                llp,
                new StreamSettings(
                        new RegionUser(memory.protectionDomain(), queuePair),
                        memory.stags(),
                        sendQueue,
                        options.sharedReceives() == null
                                ? Receives.of(receiveQueue, () -> {})
                                : Receives.of(options.sharedReceives(), () -> {}),
                        options.ird(),
                        options.ord(),
                        options.shortSegments(),
                        memory.atomics(),
                        options.extensions(),
                        options.sink() == null ? completions : options.sink(),
                        events));
    }

    public RdmapStream stream() {
        return stream;
    }

    public RecordingSink completions() {
        return completions;
    }

    public RecordingListener events() {
        return events;
    }

    public TestMemory memory() {
        return memory;
    }

    public WqeQueue sendQueue() {
        return sendQueue;
    }

    public WqeQueue receiveQueue() {
        return receiveQueue;
    }

    /** A region with all rights but remote invalidation, for all streams of the domain. */
    public MemoryRegion region(int length) {
        return memory.region(length);
    }

    /** A region of this stream alone, which the peer may write to and invalidate. */
    public MemoryRegion invalidatableRegion(int length) {
        return memory.regionOf(queuePair, length, AccessRight.REMOTE_WRITE, AccessRight.REMOTE_INVALIDATE);
    }

    /** A region of this stream alone, which the peer may read. */
    public MemoryRegion readableRegion(int length) {
        return memory.regionOf(queuePair, length, AccessRight.REMOTE_READ);
    }

    /** A region of this stream alone, for the results of its own requests. */
    public MemoryRegion sinkRegion(int length) {
        return memory.regionOf(queuePair, length, AccessRight.LOCAL_WRITE);
    }

    public Work write(long id) {
        return sendWork(WrOpcode.RDMA_WRITE, id);
    }

    public Work read(long id) {
        return sendWork(WrOpcode.RDMA_READ, id);
    }

    public Work send(long id) {
        return sendWork(WrOpcode.SEND, id);
    }

    public Work immediate(long id, long data) {
        return sendWork(WrOpcode.IMMEDIATE, id).immediate(data);
    }

    /** An operation without masks on 64 bits. */
    public Work fetchAdd(long id, long add) {
        return sendWork(WrOpcode.FETCH_ADD, id).add(add, 0);
    }

    /** An operation without masks on 64 bits. */
    public Work compareSwap(long id, long compare, long swap) {
        return sendWork(WrOpcode.COMPARE_SWAP, id).compareSwap(compare, -1L, swap, -1L);
    }

    /** A Read of no bytes that completes when everything before it is placed. */
    public Work flush(long id) {
        return sendWork(WrOpcode.FLUSH, id);
    }

    public Work invalidate(long id, MemoryRegion region) {
        return sendWork(WrOpcode.LOCAL_INVALIDATE, id).subject(region, 0);
    }

    /** @param key of the new STag */
    public Work enable(long id, MemoryRegion region, int key) {
        return sendWork(WrOpcode.ENABLE, id).subject(region, key);
    }

    private Work sendWork(WrOpcode opcode, long id) {
        return new Work(sendQueue, stream::onWorkPosted, opcode, id);
    }

    public Work receive(long id) {
        return new Work(receiveQueue, stream::onWorkPosted, WrOpcode.RECEIVE, id);
    }

    @Override
    public void close() {
        if (ownMemory) {
            memory.close();
        }
    }
}
