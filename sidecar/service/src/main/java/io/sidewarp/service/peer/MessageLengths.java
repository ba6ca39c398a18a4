// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.netty.buffer.ByteBuf;

/**
 * Follows the messages of one call from prefix to prefix, to find one that is too long before any of it is kept. gRPC resets
 * the stream of a call that has sent its headers, and its client would not learn why. On the transport's thread.
 */
final class MessageLengths {

    private final int limit;
    /** Bytes of the prefix that came, and the length as far as it is known. */
    private int prefix;

    private long length;
    /** Bytes that are to come of the message. */
    private long left;

    /** @param limit bytes of a message, at most */
    MessageLengths(int limit) {
        this.limit = limit;
    }

    /**
     * Takes the next bytes of the call; changes no index of the buffer.
     *
     * @return bytes of the message that is too long, or 0. Nothing may follow then.
     */
    long excessive(ByteBuf data) {
        int at = data.readerIndex();
        int end = data.writerIndex();
        while (at < end) {
            if (left > 0) {
                int skipped = (int) Math.min(left, end - at);
                left -= skipped;
                at += skipped;
                continue;
            }
            int octet = data.getUnsignedByte(at++);
            // The first one says whether the message is compressed.
            length = prefix == 0 ? 0 : length << Byte.SIZE | octet;
            if (++prefix == RequestOctets.PREFIX) {
                prefix = 0;
                left = length;
                if (length > limit) {
                    return length;
                }
            }
        }
        return 0;
    }
}
