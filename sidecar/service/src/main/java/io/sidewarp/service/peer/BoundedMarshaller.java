// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import com.google.protobuf.WireFormat;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.sidewarp.service.error.ApiError;
import java.io.IOException;
import java.io.InputStream;

/**
 * Reads messages that take no more than some 20 MiB of the heap, whatever their octets are. A field that nobody knows would
 * take some hundred octets of it for two of the message, and is skipped. A message in a message takes some fifty for two, so
 * they are counted before they are read.
 */
final class BoundedMarshaller<Q extends Message> implements MethodDescriptor.Marshaller<Q> {

    /** More than a Connect has with 4096 receives of 16 elements each. */
    static final int MAX_MESSAGES = 1 << 18;

    /** Of a message in a message: a tag, and a length. */
    private static final int LEAST_OCTETS = 2;

    private final MethodDescriptor.Marshaller<Q> messages;
    private final Descriptor type;
    private final Parser<Q> parser;

    private BoundedMarshaller(MethodDescriptor.Marshaller<Q> messages, Descriptor type, Parser<Q> parser) {
        this.messages = messages;
        this.type = type;
        this.parser = DiscardUnknownFieldsParser.wrap(parser);
    }

    /** One that reads the same messages. A marshaller that makes no messages of protocol buffers stays. */
    @SuppressWarnings("unchecked") // A prototype is of the type that its marshaller reads.
    static <Q> MethodDescriptor.Marshaller<Q> of(MethodDescriptor.Marshaller<Q> messages) {
        if (messages instanceof MethodDescriptor.PrototypeMarshaller<Q> generated
                && generated.getMessagePrototype() instanceof Message prototype) {
            return (MethodDescriptor.Marshaller<Q>) bounded((MethodDescriptor.Marshaller<Message>) messages, prototype);
        }
        return messages;
    }

    @SuppressWarnings("unchecked") // As above.
    private static <Q extends Message> MethodDescriptor.Marshaller<Q> bounded(
            MethodDescriptor.Marshaller<Q> messages, Message prototype) {
        return new BoundedMarshaller<>(
                messages, prototype.getDescriptorForType(), (Parser<Q>) prototype.getParserForType());
    }

    @Override
    public InputStream stream(Q message) {
        return messages.stream(message);
    }

    @Override
    public Q parse(InputStream stream) {
        try {
            byte[] data = octets(stream);
            if (data.length / LEAST_OCTETS > MAX_MESSAGES
                    && messagesIn(CodedInputStream.newInstance(data), type) > MAX_MESSAGES) {
                throw ApiError.beyondLimit(
                        "the request is made of more than " + MAX_MESSAGES + " messages; give fewer in one call");
            }
            return parser.parseFrom(data);
        } catch (InvalidProtocolBufferException e) {
            throw Status.INTERNAL.withCause(e).asRuntimeException();
        } catch (IOException e) {
            throw Status.INTERNAL
                    .withDescription("a request could not be read")
                    .withCause(e)
                    .asRuntimeException();
        }
    }

    private static byte[] octets(InputStream stream) throws IOException {
        if (!(stream instanceof KnownLength)) {
            return stream.readAllBytes();
        }
        byte[] data = new byte[stream.available()];
        stream.readNBytes(data, 0, data.length);
        return data;
    }

    private static int messagesIn(CodedInputStream input, Descriptor type) throws IOException {
        int messages = 0;
        for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
            FieldDescriptor field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
            if (field != null
                    && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
                    && WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                int end = input.pushLimit(input.readRawVarint32());
                messages += 1 + messagesIn(input, field.getMessageType());
                input.popLimit(end);
            } else {
                input.skipField(tag);
            }
        }
        return messages;
    }
}
