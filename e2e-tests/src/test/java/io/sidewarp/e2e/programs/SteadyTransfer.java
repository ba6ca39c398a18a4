// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.programs;

import io.sidewarp.client.Access;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.SessionState;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SupervisedSession;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * Writes numbered blocks into the memory of a peer, and continues if the sidecar of this program or of its peer dies.
 * Two of these programs make a transfer: one sends and one receives.
 *
 * <p>Arguments: "send" or "receive", the API's address, the shared volume, and the host and port of the receiver.
 */
public final class SteadyTransfer {

    /** Printed by the sender before the number of a block that has arrived, for some blocks. */
    public static final String ARRIVED = "arrived ";

    /** Printed by both when they are ready to work, at first and after each failure. */
    public static final String READY = "ready";

    /** Added by the receiver when its memory has the content of the time before. */
    public static final String KEPT = ", what was received is still there";

    /** Bytes of a block, which repeats its number all over. */
    public static final int BLOCK = 64 << 10;

    /** Blocks in the receiver's memory. Each overwrites the one that came so many before. */
    public static final int SLOTS = 96;

    private static final int REPORT = 100;
    private static final ValueLayout.OfLong NUMBER = ValueLayout.JAVA_LONG;

    /** The next block. It outlives failures, so that sending continues with the first that may not have arrived. */
    private long next;

    public static void main(String[] arguments) throws InterruptedException {
        ClientOptions options =
                ClientOptions.defaults().withTarget(arguments[1]).withSharedVolume(Path.of(arguments[2]));
        String host = arguments[3];
        int port = Integer.parseInt(arguments[4]);
        SteadyTransfer transfer = new SteadyTransfer();
        try (SidewarpClient client = SidewarpClient.connect(options);
                SupervisedSession session = arguments[0].equals("send")
                        ? client.supervise("sender")
                                .region("outbox", BLOCK + Long.BYTES, Access.LOCAL_WRITE)
                                .connect("receiver", host, port)
                                .start(transfer::send)
                        : client.supervise("receiver")
                                .region("inbox", (long) SLOTS * BLOCK, Access.REMOTE_WRITE, Access.REMOTE_READ)
                                .listen(host, port, (state, incoming) -> incoming.accept(address(state)))
                                .start(SteadyTransfer::receive)) {
            Thread.currentThread().join();
        }
    }

    /** Tells a sender where to write: the region has another STag after the death of this side's sidecar. */
    private static ConnectionOptions address(SessionState state) {
        return ConnectionOptions.builder()
                .privateData(state.region("inbox").address().encode())
                .build();
    }

    private static void receive(SessionState state) {
        System.out.println(READY + (state.region("inbox").fileExisted() ? KEPT : ""));
    }

    /** Sends until something fails. Then this throws, and is called again when there is another connection. */
    private void send(SessionState state) {
        System.out.println(READY);
        SharedRegion outbox = state.region("outbox");
        Connection receiver = state.connection("receiver");
        RemoteAddress inbox = RemoteAddress.decode(receiver.privateData());
        while (true) {
            for (long at = 0; at < BLOCK; at += Long.BYTES) {
                outbox.segment().set(NUMBER, at, next);
            }
            RemoteAddress slot = inbox.plus(next % SLOTS * BLOCK);
            receiver.write(outbox.slice(0, BLOCK), slot);
            // The answer of this call follows the Write, so the block is in the receiver's memory then.
            receiver.read(outbox.slice(BLOCK, Long.BYTES), slot);
            if (outbox.segment().get(NUMBER, BLOCK) != next) {
                throw new IllegalStateException("block " + next + " did not arrive");
            }
            if (next % REPORT == 0) {
                System.out.println(ARRIVED + next);
            }
            next++;
        }
    }
}
