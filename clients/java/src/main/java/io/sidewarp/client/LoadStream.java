// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.sidewarp.v1.LoadRequest;
import io.sidewarp.v1.LoadResponse;
import io.sidewarp.v1.MemoryServiceGrpc;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Data of one Load call. A few pieces are requested in advance, and another one after each piece that was read. */
final class LoadStream extends InputStream {

    private static final int PIECES_AHEAD = 4;

    private final GrpcSession session;
    private final ClientCall<LoadRequest, LoadResponse> call;
    private final Consumer<SidewarpException> failure = this::fail;

    /** Pieces that have arrived, and the end behind them. */
    private final BlockingDeque<Arrival> arrivals = new LinkedBlockingDeque<>();

    private ByteBuffer piece = ByteBuffer.allocate(0);
    private boolean closed;

    /**
     * A piece, or the end of the call.
     *
     * @param piece null at the end
     * @param cause failure of the call; null at an orderly end
     */
    private record Arrival(
            @Nullable ByteBuffer piece, @Nullable SidewarpException cause) {}

    LoadStream(GrpcSession session, LoadRequest request) {
        Transport.checkMayBlock();
        session.checkOpen();
        this.session = session;
        call = session.client().transport().channel().newCall(MemoryServiceGrpc.getLoadMethod(), CallOptions.DEFAULT);
        call.start(new PieceListener(), new Metadata());
        call.request(PIECES_AHEAD);
        call.sendMessage(request);
        call.halfClose();
        session.failAtEnd(failure);
    }

    @Override
    public int read() throws IOException {
        return advance() ? piece.get() & 0xFF : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        if (!advance()) {
            return -1;
        }
        int octets = Math.min(length, piece.remaining());
        piece.get(target, offset, octets);
        return octets;
    }

    @Override
    public int available() {
        return piece.remaining();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            session.forget(failure);
            call.cancel("closed by the reader", null);
        }
    }

    /** Ensures that the piece has a byte left. Returns false at the end of the data. */
    private boolean advance() throws IOException {
        if (closed) {
            throw new IOException("the stream is closed");
        }
        while (!piece.hasRemaining()) {
            ByteBuffer next = next();
            if (next == null) {
                session.forget(failure);
                return false;
            }
            piece = next;
            call.request(1);
        }
        return true;
    }

    private @Nullable ByteBuffer next() {
        try {
            Arrival next = arrivals.takeFirst();
            if (next.piece() == null) {
                // Later reads find the end, too.
                arrivals.addFirst(next);
                SidewarpException failed = next.cause();
                if (failed != null) {
                    throw failed.again();
                }
            }
            return next.piece();
        } catch (InterruptedException e) {
            throw Errors.interrupted(e);
        }
    }

    private void fail(SidewarpException reason) {
        arrivals.add(new Arrival(null, reason));
        call.cancel(reason.getMessage(), reason);
    }

    private final class PieceListener extends ClientCall.Listener<LoadResponse> {

        @Override
        public void onMessage(LoadResponse message) {
            arrivals.add(new Arrival(message.getData().asReadOnlyByteBuffer(), null));
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            String target = session.client().target();
            arrivals.add(new Arrival(null, status.isOk() ? null : Errors.of(status, trailers, target)));
        }
    }
}
