// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocal;
import io.sidewarp.service.config.ConfigValidator;
import io.sidewarp.service.error.ApiError;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Counts the octets that one call holds of its requests: of all that has come in and that the call was not handed, and of
 * the last request until the call asks for the next. gRPC bounds what one message may have, and HTTP/2 what comes in before
 * a call asks; nothing else bounds what many calls have of messages that their clients do not complete, or that wait.
 *
 * <p>What comes in is counted on the transport's thread, by {@link RequestFrames}. Thread-safe.
 */
public final class RequestOctets extends ServerStreamTracer {

    /** Makes one for each call of a server, and puts it into the context that {@link CallLimits} sees. */
    public static final ServerStreamTracer.Factory FACTORY = new ServerStreamTracer.Factory() {
        @Override
        public ServerStreamTracer newServerStreamTracer(String fullMethodName, Metadata headers) {
            RequestOctets octets = new RequestOctets();
            BEGUN.set(octets);
            return octets;
        }
    };

    /** Of the call that begins. */
    static final Context.Key<RequestOctets> CONTEXT = Context.key("sidewarp-request-octets");

    /** Octets that a call may hold without being counted, which is nearly all that there are. */
    static final int UNCOUNTED = 2048;

    /** What a piece of a request counts at least, however short: its buffer takes about as much of the heap. */
    static final int PIECE = 128;

    /** Octets before each message: whether it is compressed, and its length. */
    static final int PREFIX = 5;

    /** Of the call whose headers this thread of a transport has just read. */
    private static final FastThreadLocal<@Nullable RequestOctets> BEGUN = new FastThreadLocal<>();

    private final MessageLengths lengths = new MessageLengths(ConfigValidator.MAX_REQUEST);
    private @Nullable ApiConnection connection;
    private @Nullable Consumer<StatusRuntimeException> refused;

    /** Octets that came in, and those of them that the call was handed, with the prefixes of the messages. */
    private long arrived;

    private long handed;

    /** Messages that the call asked for, and those that it was handed. */
    private long asked;

    private long messages;
    /** What the short pieces count above their octets: those that came before a place in the stream, and the rest. */
    private long earlierExcess;

    private long excess;
    private long earlier;
    /** Of the messages that the call was handed since it asked for the last time. */
    private long wire;

    private long uncompressed;
    /** What is taken from the quota. */
    private long held;

    private boolean ended;
    /** Nothing more is to be kept: the call is closed, or may have no more. */
    private volatile boolean closed;

    /** The one that was made last on this thread, if it was not taken yet. */
    static @Nullable RequestOctets takeBegun() {
        RequestOctets begun = BEGUN.get();
        BEGUN.set(null);
        return begun;
    }

    /**
     * Whose quota it is. Nothing is kept of what comes in before.
     *
     * @param refused is told once that there is no more, or why a request could not be read, on the transport's thread
     */
    synchronized void begin(ApiConnection connection, Consumer<StatusRuntimeException> refused) {
        this.connection = connection;
        this.refused = refused;
    }

    /** The call is done with the last request, and is about to ask for further ones. */
    synchronized void ask(int count) {
        asked += count;
        wire = 0;
        uncompressed = 0;
        hold();
    }

    /** The call is closed. What comes in from now on is not kept. */
    void close() {
        closed = true;
    }

    /**
     * A piece comes in. On the transport's thread.
     *
     * @return whether it is to be kept: the call is open, and may have it
     */
    boolean arrive(int octets) {
        if (connection == null || closed) {
            return false;
        }
        StatusRuntimeException refusal;
        synchronized (this) {
            arrived += octets;
            excess += Math.max(0, PIECE - octets);
            refusal = hold();
        }
        tell(refusal);
        return refusal == null;
    }

    /**
     * Ends the call when a message begins in a piece that is longer than any may be. On the transport's thread, before the
     * piece arrives.
     */
    boolean refusesLength(ByteBuf piece) {
        long excessive = closed ? 0 : lengths.excessive(piece);
        if (excessive > 0) {
            refuse(ApiError.beyondLimit("the request has " + excessive + " bytes; at most "
                    + ConfigValidator.MAX_REQUEST + " are possible, split it"));
        }
        return excessive > 0;
    }

    /** What came in is no request, and the call ends. On the transport's thread. */
    void refuse(StatusRuntimeException refusal) {
        close();
        tell(refusal);
    }

    /** Whether the piece that came last begins a message that the call has asked for. On the transport's thread. */
    synchronized boolean isAwaited(int octets) {
        return arrived - handed == octets && asked > messages;
    }

    @Override
    public Context filterContext(Context context) {
        return context.withValue(CONTEXT, this);
    }

    @Override
    public void inboundMessageRead(int number, long wireSize, long uncompressedSize) {
        StatusRuntimeException refusal;
        synchronized (this) {
            messages++;
            handed += PREFIX + wireSize;
            wire += wireSize;
            forgetPieces();
            refusal = hold();
        }
        tell(refusal);
    }

    /** Pieces are not remembered one by one: those before a place in the stream go when the call was handed all of it. */
    private void forgetPieces() {
        if (handed >= earlier) {
            earlierExcess = handed < arrived ? excess : 0;
            excess = 0;
            earlier = arrived;
        }
    }

    @Override
    public void inboundUncompressedSize(long octets) {
        StatusRuntimeException refusal;
        synchronized (this) {
            uncompressed += octets;
            refusal = hold();
        }
        tell(refusal);
    }

    @Override
    public void streamClosed(Status status) {
        close();
        synchronized (this) {
            ended = true;
            ApiConnection holder = connection;
            if (holder != null && held > 0) {
                holder.giveRequestOctets(held);
            }
            held = 0;
        }
    }

    /**
     * Takes what is held more than before, or gives back what is held less.
     *
     * @return why there is no more
     */
    private @Nullable StatusRuntimeException hold() {
        ApiConnection holder = connection;
        if (holder == null || ended) {
            return null;
        }
        long octets = arrived - handed + earlierExcess + excess + Math.max(wire, uncompressed);
        long due = Math.max(0, octets - UNCOUNTED);
        if (due < held) {
            holder.giveRequestOctets(held - due);
            held = due;
        } else if (due > held && !closed) {
            StatusRuntimeException refusal = holder.takeRequestOctets(due - held);
            if (refusal != null) {
                closed = true;
                return refusal;
            }
            held = due;
        }
        return null;
    }

    private void tell(@Nullable StatusRuntimeException refusal) {
        Consumer<StatusRuntimeException> told = refused;
        if (refusal != null && told != null) {
            told.accept(refusal);
        }
    }
}
