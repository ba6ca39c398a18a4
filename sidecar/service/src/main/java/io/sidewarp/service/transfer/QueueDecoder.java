// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Parser;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.v1.CompareSwapWork;
import io.sidewarp.v1.EnableWork;
import io.sidewarp.v1.FetchAddWork;
import io.sidewarp.v1.ImmediateWork;
import io.sidewarp.v1.LocalInvalidateWork;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.RemoteAddress;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteWork;
import org.jspecify.annotations.Nullable;

/**
 * Takes the work requests out of one QueueRequest, one at a time, without making an object for each. Remembers where it
 * is, so that a caller can stop while a queue is full. Not thread-safe.
 */
final class QueueDecoder {

    private static final int OPEN = tag(QueueRequest.OPEN_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int POST = tag(QueueRequest.POST_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int WORK = tag(QueuePost.WORK_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);

    private static final int ID = tag(WorkRequest.ID_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int CONNECTION = tag(WorkRequest.CONNECTION_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int FENCE = tag(WorkRequest.FENCE_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int UNSIGNALED = tag(WorkRequest.UNSIGNALED_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int WRITE = tag(WorkRequest.WRITE_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int READ = tag(WorkRequest.READ_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int SEND = tag(WorkRequest.SEND_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int IMMEDIATE = tag(WorkRequest.IMMEDIATE_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int FETCH_ADD = tag(WorkRequest.FETCH_ADD_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int COMPARE_SWAP = tag(WorkRequest.COMPARE_SWAP_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int LOCAL_INVALIDATE =
            tag(WorkRequest.LOCAL_INVALIDATE_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int ENABLE = tag(WorkRequest.ENABLE_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int LOCAL_FENCE = tag(WorkRequest.LOCAL_FENCE_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int FLUSH = tag(WorkRequest.FLUSH_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int WITH_FLUSH = tag(WorkRequest.WITH_FLUSH_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int SHARED_RECEIVES = tag(WorkRequest.SHARED_RECEIVE_QUEUE_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int RECEIVE = tag(WorkRequest.RECEIVE_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);

    /** WriteWork, ReadWork and the atomic operations begin with the same fields. */
    private static final int LOCAL = tag(WriteWork.LOCAL_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);

    private static final int REMOTE = tag(WriteWork.REMOTE_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int WRITE_IMMEDIATE = tag(WriteWork.IMMEDIATE_FIELD_NUMBER, ProtoReader.FIXED64);
    private static final int WRITE_SOLICITED = tag(WriteWork.SOLICITED_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int ADD = tag(FetchAddWork.ADD_FIELD_NUMBER, ProtoReader.FIXED64);
    private static final int ADD_MASK = tag(FetchAddWork.MASK_FIELD_NUMBER, ProtoReader.FIXED64);
    private static final int COMPARE = tag(CompareSwapWork.COMPARE_FIELD_NUMBER, ProtoReader.FIXED64);
    private static final int COMPARE_MASK = tag(CompareSwapWork.COMPARE_MASK_FIELD_NUMBER, ProtoReader.FIXED64);
    private static final int SWAP = tag(CompareSwapWork.SWAP_FIELD_NUMBER, ProtoReader.FIXED64);
    private static final int SWAP_MASK = tag(CompareSwapWork.SWAP_MASK_FIELD_NUMBER, ProtoReader.FIXED64);
    private static final int IMMEDIATE_DATA = tag(ImmediateWork.DATA_FIELD_NUMBER, ProtoReader.FIXED64);
    private static final int IMMEDIATE_SOLICITED = tag(ImmediateWork.SOLICITED_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int INVALIDATE_REGION = tag(LocalInvalidateWork.REGION_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int ENABLE_REGION = tag(EnableWork.REGION_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int ENABLE_KEY = tag(EnableWork.KEY_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int SEND_LOCAL = tag(SendWork.LOCAL_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);
    private static final int SEND_SOLICITED = tag(SendWork.SOLICITED_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int SEND_INVALIDATE = tag(SendWork.INVALIDATE_STAG_FIELD_NUMBER, ProtoReader.FIXED32);
    private static final int RECEIVE_LOCAL = tag(ReceiveWork.LOCAL_FIELD_NUMBER, ProtoReader.LENGTH_DELIMITED);

    private static final int SGE_REGION = tag(Sge.REGION_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int SGE_OFFSET = tag(Sge.OFFSET_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int SGE_LENGTH = tag(Sge.LENGTH_FIELD_NUMBER, ProtoReader.VARINT);
    private static final int REMOTE_STAG = tag(RemoteAddress.STAG_FIELD_NUMBER, ProtoReader.FIXED32);
    private static final int REMOTE_OFFSET = tag(RemoteAddress.TAGGED_OFFSET_FIELD_NUMBER, ProtoReader.VARINT);

    static {
        int[] locals = {ReadWork.LOCAL_FIELD_NUMBER, FetchAddWork.LOCAL_FIELD_NUMBER, CompareSwapWork.LOCAL_FIELD_NUMBER
        };
        int[] remotes = {
            ReadWork.REMOTE_FIELD_NUMBER, FetchAddWork.REMOTE_FIELD_NUMBER, CompareSwapWork.REMOTE_FIELD_NUMBER
        };
        for (int i = 0; i < locals.length; i++) {
            if (locals[i] != WriteWork.LOCAL_FIELD_NUMBER || remotes[i] != WriteWork.REMOTE_FIELD_NUMBER) {
                throw new ExceptionInInitializerError("the operations on remote memory begin differently");
            }
        }
    }

    private static final byte[] NOTHING = {};

    /** Keeps no fields that are not known, which would take the heap many times their octets. */
    private static final Parser<QueueOpen> OPENS = DiscardUnknownFieldsParser.wrap(QueueOpen.parser());

    private final ProtoReader reader = new ProtoReader();
    /** End of the message while inside a post, else -1. */
    private int messageEnd = -1;

    private boolean mayOpen;
    /** The message has something that this version knows. */
    private boolean known;

    private static int tag(int field, int type) {
        return field << 3 | type;
    }

    /** Begins a message. */
    void begin(QueueFrame frame) {
        begin(frame, false);
    }

    /**
     * Begins a message.
     *
     * @param first whether it may have `open`, whose content is of no interest any more
     */
    void begin(QueueFrame frame, boolean first) {
        reader.begin(frame.data(), frame.length());
        messageEnd = -1;
        mayOpen = first;
        known = first;
    }

    /** Keeps nothing of the message, which may have 4 MiB; as if it were read to its end. */
    void end() {
        reader.begin(NOTHING, 0);
        messageEnd = -1;
        known = true;
    }

    /** The `open` of the message, or null. For the first message of a call; begin it again to take its work. */
    @Nullable
    QueueOpen open() {
        QueueOpen.Builder builder = null;
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == OPEN) {
                int outer = reader.enter();
                try {
                    if (builder == null) {
                        builder = QueueOpen.newBuilder();
                    }
                    builder.mergeFrom(
                            OPENS.parseFrom(reader.array(), reader.position(), reader.limit() - reader.position()));
                } catch (InvalidProtocolBufferException e) {
                    throw new ProtoReader.MalformedMessage("open");
                }
                reader.leave(outer);
            } else {
                reader.skip(tag);
            }
        }
        return builder == null ? null : builder.build();
    }

    /** Takes the next work request; false when the message has no more. */
    boolean next(WorkItem item) {
        while (true) {
            if (messageEnd >= 0) {
                if (nextOfPost(item)) {
                    return true;
                }
                reader.leave(messageEnd);
                messageEnd = -1;
            }
            if (!reader.hasMore()) {
                if (!known) {
                    throw ApiError.invalid(
                            "each request of a Queue call behind open must be post; this one is nothing that is known");
                }
                end();
                return false;
            }
            int tag = reader.tag();
            if (tag == POST) {
                known = true;
                messageEnd = reader.enter();
            } else if (tag == OPEN && !mayOpen) {
                throw ApiError.invalid("open occurs again; only the first request of a Queue call may be open");
            } else {
                reader.skip(tag);
            }
        }
    }

    private boolean nextOfPost(WorkItem item) {
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == WORK) {
                int outer = reader.enter();
                work(item);
                reader.leave(outer);
                return true;
            }
            reader.skip(tag);
        }
        return false;
    }

    private void work(WorkItem item) {
        item.reset();
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == ID) {
                item.id = reader.varint();
            } else if (tag == CONNECTION) {
                item.connection = reader.varint();
            } else if (tag == FENCE) {
                item.fence = reader.bool();
            } else if (tag == UNSIGNALED) {
                item.unsignaled = reader.bool();
            } else if (tag == WRITE) {
                write(item);
            } else if (tag == READ) {
                read(item);
            } else if (tag == SEND) {
                send(item);
            } else if (tag == RECEIVE) {
                receive(item);
            } else if (tag == IMMEDIATE) {
                immediate(item);
            } else if (tag == FETCH_ADD) {
                fetchAdd(item);
            } else if (tag == COMPARE_SWAP) {
                compareSwap(item);
            } else if (tag == LOCAL_INVALIDATE) {
                localInvalidate(item);
            } else if (tag == ENABLE) {
                enable(item);
            } else if (tag == FLUSH) {
                flush(item);
            } else if (tag == WITH_FLUSH) {
                item.withFlush = reader.bool();
            } else if (tag == LOCAL_FENCE) {
                item.localFence = reader.bool();
            } else if (tag == SHARED_RECEIVES) {
                item.sharedReceives = reader.varint();
            } else {
                reader.skip(tag);
            }
        }
    }

    private void write(WorkItem item) {
        int outer = begin(item, item.opcode == Opcode.RDMA_WRITE_WITH_IMMEDIATE ? item.opcode : Opcode.RDMA_WRITE);
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == WRITE_IMMEDIATE) {
                item.opcode = Opcode.RDMA_WRITE_WITH_IMMEDIATE;
                item.immediate = reader.fixed64();
            } else if (tag == WRITE_SOLICITED) {
                item.solicited = reader.bool();
            } else {
                remoteMemory(item, tag);
            }
        }
        reader.leave(outer);
    }

    private void read(WorkItem item) {
        int outer = begin(item, Opcode.RDMA_READ);
        while (reader.hasMore()) {
            remoteMemory(item, reader.tag());
        }
        reader.leave(outer);
    }

    private void fetchAdd(WorkItem item) {
        int outer = begin(item, Opcode.FETCH_ADD);
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == ADD) {
                item.operand = reader.fixed64();
            } else if (tag == ADD_MASK) {
                item.operandMask = reader.fixed64();
            } else {
                remoteMemory(item, tag);
            }
        }
        reader.leave(outer);
    }

    private void compareSwap(WorkItem item) {
        int outer = begin(item, Opcode.COMPARE_SWAP);
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == COMPARE) {
                item.compare = reader.fixed64();
            } else if (tag == COMPARE_MASK) {
                item.compareMask = reader.fixed64();
            } else if (tag == SWAP) {
                item.operand = reader.fixed64();
            } else if (tag == SWAP_MASK) {
                item.operandMask = reader.fixed64();
            } else {
                remoteMemory(item, tag);
            }
        }
        reader.leave(outer);
    }

    /** A field that all operations on the peer's memory have, or an unknown one. */
    private void remoteMemory(WorkItem item, int tag) {
        if (tag == LOCAL) {
            sge(item);
        } else if (tag == REMOTE) {
            remote(item);
        } else {
            reader.skip(tag);
        }
    }

    private void localInvalidate(WorkItem item) {
        int outer = begin(item, Opcode.LOCAL_INVALIDATE);
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == INVALIDATE_REGION) {
                item.subject = reader.varint();
            } else {
                reader.skip(tag);
            }
        }
        reader.leave(outer);
    }

    private void enable(WorkItem item) {
        int outer = begin(item, Opcode.ENABLE);
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == ENABLE_REGION) {
                item.subject = reader.varint();
            } else if (tag == ENABLE_KEY) {
                item.key = (int) reader.varint();
            } else {
                reader.skip(tag);
            }
        }
        reader.leave(outer);
    }

    private void flush(WorkItem item) {
        int outer = begin(item, Opcode.FLUSH);
        while (reader.hasMore()) {
            reader.skip(reader.tag());
        }
        reader.leave(outer);
    }

    private void immediate(WorkItem item) {
        int outer = begin(item, Opcode.IMMEDIATE);
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == IMMEDIATE_DATA) {
                item.immediate = reader.fixed64();
            } else if (tag == IMMEDIATE_SOLICITED) {
                item.solicited = reader.bool();
            } else {
                reader.skip(tag);
            }
        }
        reader.leave(outer);
    }

    private void send(WorkItem item) {
        int outer = begin(item, Opcode.SEND);
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == SEND_LOCAL) {
                sge(item);
            } else if (tag == SEND_SOLICITED) {
                item.solicited = reader.bool();
            } else if (tag == SEND_INVALIDATE) {
                item.invalidate = true;
                item.invalidateStag = reader.fixed32();
            } else {
                reader.skip(tag);
            }
        }
        reader.leave(outer);
    }

    private void receive(WorkItem item) {
        int outer = begin(item, Opcode.RECEIVE);
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == RECEIVE_LOCAL) {
                sge(item);
            } else {
                reader.skip(tag);
            }
        }
        reader.leave(outer);
    }

    /** A message field that occurs twice is merged; another member of the oneof replaces it. */
    private int begin(WorkItem item, Opcode opcode) {
        if (item.opcode != opcode) {
            item.resetWork(opcode);
        }
        return reader.enter();
    }

    private void sge(WorkItem item) {
        int outer = reader.enter();
        long region = 0;
        long offset = 0;
        long length = 0;
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == SGE_REGION) {
                region = reader.varint();
            } else if (tag == SGE_OFFSET) {
                offset = reader.varint();
            } else if (tag == SGE_LENGTH) {
                length = reader.varint();
            } else {
                reader.skip(tag);
            }
        }
        reader.leave(outer);
        item.addSge(region, offset, length);
    }

    private void remote(WorkItem item) {
        int outer = reader.enter();
        item.remote = true;
        while (reader.hasMore()) {
            int tag = reader.tag();
            if (tag == REMOTE_STAG) {
                item.remoteStag = reader.fixed32();
            } else if (tag == REMOTE_OFFSET) {
                item.remoteTaggedOffset = reader.varint();
            } else {
                reader.skip(tag);
            }
        }
        reader.leave(outer);
    }
}
