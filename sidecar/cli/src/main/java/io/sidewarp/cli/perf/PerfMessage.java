// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.wire.Message;
import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;

/** Messages of the perf service. */
sealed interface PerfMessage extends Message {

    /**
     * The client's plan. Body: operation (1 byte), latency (1), connections (2), depth (4), signal (4), size (8), seed
     * (8), address of the client's region (12).
     */
    record Setup(PerfPlan plan, RemoteAddress region) implements PerfMessage {}

    /**
     * The server is ready for the data connections. Body: token (8 bytes), address of the server's region (12),
     * receives (4).
     *
     * @param token identifies the test in the hello of a data connection
     * @param receives number of receives that are posted on each data connection of a send test
     */
    record Ready(long token, RemoteAddress region, int receives) implements PerfMessage {}

    /** The client begins to measure. The server begins, too, and answers with the same message. No body. */
    record Begin() implements PerfMessage {}

    /** The time is over. The server reads its own figures, and answers with the same message. No body. */
    record End() implements PerfMessage {}

    /** Everything that was posted has arrived. Body: messages (8 bytes), over all connections. */
    record Done(long messages) implements PerfMessage {}

    /**
     * The server's figures. Body: CPU time of its process (8 bytes), CPU time of its sidecar (8), messages received
     * (8), wrong messages (8).
     *
     * @param processNanos from Begin to End; all ones when unknown
     * @param sidecarNanos the same for the sidecar
     * @param received messages that reached a receive, over all connections
     * @param wrong number of messages in memory that differ from the pattern
     */
    record Report(long processNanos, long sidecarNanos, long received, long wrong) implements PerfMessage {}

    @Override
    default int type() {
        return switch (this) {
            case Setup _ -> 32;
            case Ready _ -> 33;
            case Begin _ -> 34;
            case End _ -> 35;
            case Done _ -> 36;
            case Report _ -> 37;
        };
    }

    @Override
    default void encodeBody(ByteBuffer target) {
        switch (this) {
            case Setup setup -> {
                setup.plan().encode(target);
                setup.region().encode(target);
            }
            case Ready ready -> {
                target.putLong(ready.token());
                ready.region().encode(target);
                target.putInt(ready.receives());
            }
            case Begin _, End _ -> {}
            case Done done -> target.putLong(done.messages());
            case Report report ->
                target.putLong(report.processNanos())
                        .putLong(report.sidecarNanos())
                        .putLong(report.received())
                        .putLong(report.wrong());
        }
    }

    static PerfMessage decode(int type, ByteBuffer body) {
        return switch (type) {
            case 32 -> new Setup(PerfPlan.decode(body), RemoteAddress.decode(body));
            case 33 -> new Ready(body.getLong(), RemoteAddress.decode(body), body.getInt());
            case 34 -> new Begin();
            case 35 -> new End();
            case 36 -> new Done(body.getLong());
            case 37 -> new Report(body.getLong(), body.getLong(), body.getLong(), body.getLong());
            default -> throw Message.unexpected(type);
        };
    }

    /**
     * Parameters in the hello of a data connection: token (8 bytes), number of the connection (2).
     *
     * @param index counted from 0
     */
    record DataHello(long token, int index) {

        static final int LENGTH = 10;

        byte[] encode() {
            return ByteBuffer.allocate(LENGTH)
                    .putLong(token)
                    .putShort((short) index)
                    .array();
        }

        static DataHello decode(ByteBuffer parameters) {
            return new DataHello(parameters.getLong(), Short.toUnsignedInt(parameters.getShort()));
        }
    }
}
