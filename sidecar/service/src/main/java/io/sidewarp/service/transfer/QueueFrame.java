// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * A QueueRequest as it came, decoded while its work is posted ({@link QueueDecoder}).
 *
 * @param length octets of the array that belong to the message
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; handed on once.
record QueueFrame(byte[] data, int length) {

    /** Reads the octets of a message; interpretation comes later. */
    static final MethodDescriptor.Marshaller<QueueFrame> MARSHALLER = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(QueueFrame frame) {
            return new ByteArrayInputStream(frame.data, 0, frame.length);
        }

        @Override
        public QueueFrame parse(InputStream stream) {
            try {
                if (stream instanceof KnownLength) {
                    byte[] data = new byte[stream.available()];
                    int length = stream.readNBytes(data, 0, data.length);
                    return new QueueFrame(data, length);
                }
                byte[] data = stream.readAllBytes();
                return new QueueFrame(data, data.length);
            } catch (IOException e) {
                throw Status.INTERNAL
                        .withDescription("a request could not be read")
                        .withCause(new UncheckedIOException(e))
                        .asRuntimeException();
            }
        }
    };
}
