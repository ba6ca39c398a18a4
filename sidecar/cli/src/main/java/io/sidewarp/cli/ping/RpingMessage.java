// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.client.RemoteAddress;
import java.nio.ByteBuffer;

/**
 * The only message of rping, in both directions. The client offers memory with it. The content of the server's messages
 * is irrelevant; only their arrival counts.
 *
 * <pre>
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                                                               |
 *   +                         Tagged offset                         +
 *   |                                                               |
 *   +---------------------------------------------------------------+
 *   |                             STag                              |
 *   +---------------------------------------------------------------+
 *   |                            Octets                             |
 *   +---------------------------------------------------------------+
 * </pre>
 *
 * All integers are big-endian.
 */
record RpingMessage(RemoteAddress address, int octets) {

    static final int LENGTH = 16;

    /** Message of a server. */
    static final RpingMessage GO_AHEAD = new RpingMessage(new RemoteAddress(0, 0), 0);

    static RpingMessage decode(ByteBuffer source) {
        if (source.remaining() != LENGTH) {
            throw new Failure(
                    ExitCode.PROTOCOL,
                    "the peer sent " + source.remaining() + " bytes, but messages of rping have " + LENGTH);
        }
        long taggedOffset = source.getLong();
        return new RpingMessage(new RemoteAddress(source.getInt(), taggedOffset), source.getInt());
    }

    ByteBuffer encode() {
        return ByteBuffer.allocate(LENGTH)
                .putLong(address.taggedOffset())
                .putInt(address.stag())
                .putInt(octets)
                .flip();
    }
}
