// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.sidewarp.ring.RingRecord;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Splits the bytes of a socket into records, and refuses records without a valid header. */
public abstract class RecordDecoder extends ByteToMessageDecoder {

    private static final boolean LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private boolean refused;

    /**
     * Takes a record.
     *
     * @param start index of the record in the buffer
     * @param length length with the header
     * @return false if another handler has taken the place of this one; the record is for that handler
     */
    protected abstract boolean onRecord(ChannelHandlerContext context, ByteBuf in, int start, int length, int type);

    @Override
    protected final void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (refused) {
            in.skipBytes(in.readableBytes());
            return;
        }
        if (in.readableBytes() < RingRecord.HEADER) {
            return;
        }
        int start = in.readerIndex();
        int length = getInt(in, start + RingRecord.LENGTH_OFFSET);
        if (length < RingRecord.HEADER || length > RingRecord.MAX_LENGTH) {
            refuse(
                    context,
                    Status.Code.INVALID_ARGUMENT,
                    "a record has length " + Integer.toUnsignedString(length) + "; allowed: " + RingRecord.HEADER
                            + " to " + RingRecord.MAX_LENGTH);
            return;
        }
        if (in.readableBytes() < length) {
            return;
        }
        int version = getShort(in, start + RingRecord.VERSION_OFFSET);
        if (version != RingRecord.VERSION) {
            refuse(
                    context,
                    Status.Code.INVALID_ARGUMENT,
                    "a record has version " + version + "; expected " + RingRecord.VERSION);
            return;
        }
        int type = getShort(in, start + RingRecord.TYPE_OFFSET);
        if (onRecord(context, in, start, length, type) && in.isReadable()) {
            in.readerIndex(start + length);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }

    /** Sends ERROR, closes the socket behind it, and takes no more records. */
    protected void refuse(ChannelHandlerContext context, Status.Code code, String text) {
        ignoreRecords();
        context.writeAndFlush(record(RingRecord.ERROR, code.value(), text)).addListener(ChannelFutureListener.CLOSE);
    }

    /** Takes no more records. */
    protected final void ignoreRecords() {
        refused = true;
    }

    protected static ByteBuf record(int type, long value) {
        return record(type, value, "");
    }

    protected static ByteBuf record(int type, long value, String text) {
        return Unpooled.wrappedBuffer(RingRecord.of(type, value, text.getBytes(StandardCharsets.UTF_8)));
    }

    private static int getInt(ByteBuf in, int at) {
        return LITTLE ? in.getIntLE(at) : in.getInt(at);
    }

    private static int getShort(ByteBuf in, int at) {
        return LITTLE ? in.getUnsignedShortLE(at) : in.getUnsignedShort(at);
    }

    protected static long getLong(ByteBuf in, int at) {
        return LITTLE ? in.getLongLE(at) : in.getLong(at);
    }
}
