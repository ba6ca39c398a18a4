// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.ExtensionRegistryLite;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.sidewarp.v1.QueueCompletions;
import io.sidewarp.v1.QueueOpened;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.TransferServiceGrpc;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one Queue call without protobuf's objects: the octets of a response are kept in one buffer and read
 * field by field into {@link WorkCompletion}s, the only objects that are made. Responses are read one at a time.
 */
final class QueueCodec {

    /** Takes what a response holds, in its order. */
    interface Sink {

        void opened(QueueOpened opened);

        /**
         * The caller's id for a completion.
         *
         * @param sentId the id that the work request was sent with
         */
        long callersId(long sentId, long connection);

        void completed(long sentId, WorkCompletion completion);
    }

    private final MethodDescriptor<PostFrame, QueueCodec> method = TransferServiceGrpc.getQueueMethod().toBuilder(
                    new Requests(), new Responses())
            .build();

    /** The response that was received last. */
    private byte[] octets = new byte[4096];

    private int length;

    /** The Queue method; its responses are this object, to be read with {@link #read}. */
    MethodDescriptor<PostFrame, QueueCodec> method() {
        return method;
    }

    /** Reads the response that was received last. */
    void read(Sink sink) {
        try {
            CodedInputStream input = CodedInputStream.newInstance(octets, 0, length);
            for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
                switch (WireFormat.getTagFieldNumber(tag)) {
                    case QueueResponse.OPENED_FIELD_NUMBER -> {
                        QueueOpened.Builder opened = QueueOpened.newBuilder();
                        input.readMessage(opened, ExtensionRegistryLite.getEmptyRegistry());
                        sink.opened(opened.build());
                    }
                    case QueueResponse.COMPLETIONS_FIELD_NUMBER -> readCompletions(input, sink);
                    default -> input.skipField(tag);
                }
            }
        } catch (InvalidProtocolBufferException e) {
            throw new SidewarpException(
                    Status.Code.INTERNAL, "the sidecar sent something that is not a QueueResponse", null, e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void readCompletions(CodedInputStream input, Sink sink) throws IOException {
        int outer = input.pushLimit(input.readRawVarint32());
        for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
            if (WireFormat.getTagFieldNumber(tag) == QueueCompletions.COMPLETIONS_FIELD_NUMBER) {
                int inner = input.pushLimit(input.readRawVarint32());
                readCompletion(input, sink);
                input.checkLastTagWas(0);
                input.popLimit(inner);
            } else {
                input.skipField(tag);
            }
        }
        input.popLimit(outer);
    }

    private static void readCompletion(CodedInputStream input, Sink sink) throws IOException {
        long id = 0;
        long connection = 0;
        int opcode = 0;
        int status = 0;
        long octets = 0;
        boolean solicited = false;
        boolean invalidated = false;
        int invalidatedStag = 0;
        WorkCompletion.Result resultKind = WorkCompletion.Result.NONE;
        long result = 0;
        RdmaError.@Nullable Builder error = null;
        String message = "";
        int code = 0;
        int retry = 0;
        for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
            switch (WireFormat.getTagFieldNumber(tag)) {
                case io.sidewarp.v1.WorkCompletion.ID_FIELD_NUMBER -> id = input.readUInt64();
                case io.sidewarp.v1.WorkCompletion.CONNECTION_FIELD_NUMBER -> connection = input.readUInt64();
                case io.sidewarp.v1.WorkCompletion.OPCODE_FIELD_NUMBER -> opcode = input.readEnum();
                case io.sidewarp.v1.WorkCompletion.STATUS_FIELD_NUMBER -> status = input.readEnum();
                case io.sidewarp.v1.WorkCompletion.LENGTH_FIELD_NUMBER -> octets = input.readUInt64();
                case io.sidewarp.v1.WorkCompletion.SOLICITED_FIELD_NUMBER -> solicited = input.readBool();
                case io.sidewarp.v1.WorkCompletion.INVALIDATED_STAG_FIELD_NUMBER -> {
                    invalidated = true;
                    invalidatedStag = input.readFixed32();
                }
                case io.sidewarp.v1.WorkCompletion.IMMEDIATE_FIELD_NUMBER -> {
                    resultKind = WorkCompletion.Result.IMMEDIATE;
                    result = input.readFixed64();
                }
                case io.sidewarp.v1.WorkCompletion.ORIGINAL_FIELD_NUMBER -> {
                    resultKind = WorkCompletion.Result.ORIGINAL;
                    result = input.readFixed64();
                }
                case io.sidewarp.v1.WorkCompletion.ERROR_FIELD_NUMBER -> {
                    error = RdmaError.newBuilder();
                    input.readMessage(error, ExtensionRegistryLite.getEmptyRegistry());
                }
                case io.sidewarp.v1.WorkCompletion.MESSAGE_FIELD_NUMBER -> message = input.readStringRequireUtf8();
                case io.sidewarp.v1.WorkCompletion.CODE_FIELD_NUMBER -> code = input.readInt32();
                case io.sidewarp.v1.WorkCompletion.RETRY_FIELD_NUMBER -> retry = input.readEnum();
                default -> input.skipField(tag);
            }
        }
        sink.completed(
                id,
                new WorkCompletion(
                        sink.callersId(id, connection),
                        connection,
                        Opcode.ofNumber(opcode),
                        CompletionStatus.ofNumber(status),
                        octets,
                        solicited,
                        invalidated,
                        invalidatedStag,
                        resultKind,
                        result,
                        error == null ? null : error.build(),
                        message,
                        code,
                        retry(retry)));
    }

    private static Retry retry(int number) {
        io.sidewarp.v1.Retry known = io.sidewarp.v1.Retry.forNumber(number);
        return Retry.of(known == null ? io.sidewarp.v1.Retry.UNRECOGNIZED : known);
    }

    private static final class Requests implements MethodDescriptor.Marshaller<PostFrame> {

        @Override
        public InputStream stream(PostFrame frame) {
            return frame;
        }

        @Override
        public PostFrame parse(InputStream stream) {
            throw new UnsupportedOperationException("a client receives no requests");
        }
    }

    private final class Responses implements MethodDescriptor.Marshaller<QueueCodec> {

        @Override
        public InputStream stream(QueueCodec value) {
            throw new UnsupportedOperationException("a client sends no responses");
        }

        @Override
        public QueueCodec parse(InputStream stream) {
            try {
                length = 0;
                int read = stream.read(octets, 0, octets.length);
                while (read >= 0) {
                    length += read;
                    if (length == octets.length) {
                        octets = Arrays.copyOf(octets, 2 * octets.length);
                    }
                    read = stream.read(octets, length, octets.length - length);
                }
                return QueueCodec.this;
            } catch (IOException e) {
                throw Status.INTERNAL
                        .withDescription("a response could not be read")
                        .withCause(e)
                        .asRuntimeException();
            }
        }
    }
}
