// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.Layout;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.util.List;

/**
 * Streams RDMA Writes or Reads for a given time, with the plan's number in flight on each connection. Ends with a Read
 * on each connection. The peer answers this Read after it has placed all earlier Writes (RFC 5040 section 5.5).
 */
final class StreamDuty implements Duty {

    private static final long FENCE_ID = -1;

    private final EngineEnd end;
    private final TransferPlan plan;
    private final List<Link> links;
    private final Completions completions;
    private final Wr request = new Wr();
    private final WrOpcode opcode;
    private final long nanos;
    private final long[] posted;
    private final int[] underWay;
    private long begin;
    private long last;
    private long messages;
    private int fences;
    private boolean started;

    StreamDuty(EngineEnd end, List<Link> links, long nanos) {
        this.end = end;
        this.plan = end.plan();
        this.links = links;
        this.nanos = nanos;
        completions = new Completions(end.completions());
        opcode = plan.operation() == Operation.READ ? WrOpcode.RDMA_READ : WrOpcode.RDMA_WRITE;
        posted = new long[links.size()];
        underWay = new int[links.size()];
    }

    @Override
    public boolean poll() {
        if (!started) {
            started = true;
            begin = System.nanoTime();
            last = begin;
            for (int i = 0; i < links.size(); i++) {
                post(i, plan.depth());
            }
            return true;
        }
        int count = completions.poll();
        if (count == 0) {
            return false;
        }
        last = System.nanoTime();
        boolean timeIsUp = last - begin >= nanos;
        for (int i = 0; i < count; i++) {
            long id = completions.get(i).id();
            if (id == FENCE_ID) {
                fences--;
            } else {
                messages += plan.signal();
                underWay[(int) id] -= plan.signal();
                if (!timeIsUp) {
                    post((int) id, plan.signal());
                } else if (underWay[(int) id] == 0) {
                    fence((int) id);
                }
            }
        }
        return true;
    }

    @Override
    public boolean isDone() {
        return started && last - begin >= nanos && fences == 0 && isIdle();
    }

    @Override
    public boolean followsCompletions() {
        return true;
    }

    @Override
    public DutyOutcome outcome() {
        return DutyOutcome.stream(last - begin, messages);
    }

    private boolean isIdle() {
        for (int count : underWay) {
            if (count > 0) {
                return false;
            }
        }
        return true;
    }

    private void post(int index, int count) {
        for (int i = 1; i <= count; i++) {
            long offset = end.layout().slot(index, posted[index]++);
            links.get(index).transfer(request, opcode, index, offset, offset, plan.size(), i % plan.signal() == 0);
        }
        underWay[index] += count;
    }

    private void fence(int index) {
        long offset = end.layout().fence(index);
        links.get(index).transfer(request, WrOpcode.RDMA_READ, FENCE_ID, offset, offset, Layout.FENCE, true);
        fences++;
    }
}
