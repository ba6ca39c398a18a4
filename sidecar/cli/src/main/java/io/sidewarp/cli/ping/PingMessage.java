// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import io.sidewarp.cli.wire.Message;
import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;

/** Messages of the ping service. */
sealed interface PingMessage extends Message {

    /**
     * The client offers memory for one round. Body: round (4 bytes), bytes (4), seed (8), source (12), sink (12).
     *
     * @param round counted from 1
     * @param octets bytes of source and sink
     * @param seed of the pattern in the source; the sink gets the pattern of the seed's complement
     * @param source to be read by RDMA Read
     * @param sink to be written by RDMA Write
     */
    record Advertise(int round, int octets, long seed, RemoteAddress source, RemoteAddress sink)
            implements PingMessage {}

    /**
     * The server has read and written. Body: round (4 bytes), position of the first wrong byte in the data that it read
     * (8 bytes, all ones when there is none).
     */
    record Done(int round, long firstDifference) implements PingMessage {}

    @Override
    default int type() {
        return switch (this) {
            case Advertise _ -> 16;
            case Done _ -> 17;
        };
    }

    @Override
    default void encodeBody(ByteBuffer target) {
        switch (this) {
            case Advertise offer -> {
                target.putInt(offer.round()).putInt(offer.octets()).putLong(offer.seed());
                offer.source().encode(target);
                offer.sink().encode(target);
            }
            case Done done -> target.putInt(done.round()).putLong(done.firstDifference());
        }
    }

    static PingMessage decode(int type, ByteBuffer body) {
        return switch (type) {
            case 16 ->
                new Advertise(
                        body.getInt(),
                        body.getInt(),
                        body.getLong(),
                        RemoteAddress.decode(body),
                        RemoteAddress.decode(body));
            case 17 -> new Done(body.getInt(), body.getLong());
            default -> throw Message.unexpected(type);
        };
    }
}
