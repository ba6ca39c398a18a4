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
            implements PingMessage {

        static final int TYPE = 16;

        static Advertise decode(ByteBuffer body) {
            return new Advertise(
                    body.getInt(),
                    body.getInt(),
                    body.getLong(),
                    RemoteAddress.decode(body),
                    RemoteAddress.decode(body));
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.putInt(round).putInt(octets).putLong(seed);
            source.encode(target);
            sink.encode(target);
        }
    }

    /**
     * The server has read and written. Body: round (4 bytes), position of the first wrong byte in the data that it read
     * (8 bytes, all ones when there is none).
     */
    record Done(int round, long firstDifference) implements PingMessage {

        static final int TYPE = 17;

        static Done decode(ByteBuffer body) {
            return new Done(body.getInt(), body.getLong());
        }

        @Override
        public int type() {
            return TYPE;
        }

        @Override
        public void encodeBody(ByteBuffer target) {
            target.putInt(round).putLong(firstDifference);
        }
    }
}
