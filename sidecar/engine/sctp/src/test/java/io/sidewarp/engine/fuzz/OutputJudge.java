// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.testing.Segment;
import java.util.function.Consumer;

/** Checks the output of an endpoint, as its peer sees it, against the rules that no input may make it break. */
final class OutputJudge {

    private static final int QUEUES = 4;
    private static final int TERMINATE = 7;
    private static final int REQUEST_QUEUE = 1;
    private static final int SMALLEST_TERMINATE = 4;

    private final int mostUlpdu;
    private final Consumer<Segment> onRequest;
    private final int[] msn = {1, 1, 1, 1};
    private final long[] offset = new long[QUEUES];
    private boolean insideTagged;
    private boolean terminated;

    /** @param onRequest told of each Read Request and Atomic Request of the endpoint */
    OutputJudge(int mostUlpdu, Consumer<Segment> onRequest) {
        this.mostUlpdu = mostUlpdu;
        this.onRequest = onRequest;
    }

    boolean terminated() {
        return terminated;
    }

    void onUlpdu(byte[] ulpdu) {
        Violation.unless(!terminated, "something follows the Terminate");
        Violation.unless(ulpdu.length <= mostUlpdu, "a ULPDU of " + ulpdu.length + " octets");
        Segment segment = new Segment(ulpdu);
        if (segment.tagged()) {
            insideTagged = !segment.last();
            return;
        }
        int queue = segment.qn();
        terminated = segment.opcode() == TERMINATE;
        Violation.unless(terminated || !insideTagged, "messages are interleaved");
        Violation.unless(queue >= 0 && queue < QUEUES, "queue number " + queue);
        Violation.unless(segment.msn() == msn[queue], "MSN " + segment.msn() + " instead of " + msn[queue]);
        Violation.unless(segment.mo() == offset[queue], "message offset " + segment.mo());
        offset[queue] += segment.payload().length;
        if (segment.last()) {
            Violation.unless(!terminated || offset[queue] >= SMALLEST_TERMINATE, "a Terminate without content");
            offset[queue] = 0;
            msn[queue]++;
        }
        if (queue == REQUEST_QUEUE) {
            onRequest.accept(segment);
        }
    }
}
