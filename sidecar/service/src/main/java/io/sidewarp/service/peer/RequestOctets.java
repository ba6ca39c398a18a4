// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Counts the octets that one call holds of its requests: of the one that is on its way in, and of the last one until the
 * call asks for the next. gRPC bounds what one message may have, and takes its octets out of the window of HTTP/2 as they
 * come; so nothing else bounds what many calls have of messages that their clients do not complete, or that wait.
 *
 * <p>What comes in is counted on the transport's thread.
 */
public final class RequestOctets extends ServerStreamTracer {

    /** Makes one for each call of a server, and puts it into the context that {@link CallLimits} sees. */
    public static final ServerStreamTracer.Factory FACTORY = new ServerStreamTracer.Factory() {
        @Override
        public ServerStreamTracer newServerStreamTracer(String fullMethodName, Metadata headers) {
            return new RequestOctets();
        }
    };

    /** Of the call that begins. */
    static final Context.Key<RequestOctets> CONTEXT = Context.key("sidewarp-request-octets");

    /** Octets that a request may have without being counted, which is nearly all that there are. */
    static final int UNCOUNTED = 2048;

    private final AtomicLong held = new AtomicLong();
    private @Nullable ApiConnection connection;
    private @Nullable Consumer<StatusRuntimeException> refused;
    private long wire;
    private long uncompressed;
    private boolean ended;

    /**
     * Whose quota it is. Nothing comes in before.
     *
     * @param refused is told once that there is no more, on the transport's thread
     */
    void begin(ApiConnection connection, Consumer<StatusRuntimeException> refused) {
        this.connection = connection;
        this.refused = refused;
    }

    /** The call is done with the last request. To be called before it asks for the next one. */
    void done() {
        wire = 0;
        uncompressed = 0;
        release();
    }

    @Override
    public Context filterContext(Context context) {
        return context.withValue(CONTEXT, this);
    }

    @Override
    public void inboundWireSize(long octets) {
        wire += octets;
        hold(Math.max(wire, uncompressed));
    }

    @Override
    public void inboundUncompressedSize(long octets) {
        uncompressed += octets;
        hold(Math.max(wire, uncompressed));
    }

    @Override
    public void streamClosed(Status status) {
        ended = true;
        release();
    }

    private void hold(long octets) {
        ApiConnection holder = connection;
        Consumer<StatusRuntimeException> told = refused;
        long more = octets - held.get();
        if (octets <= UNCOUNTED || more <= 0 || ended || holder == null || told == null) {
            return;
        }
        StatusRuntimeException refusal = holder.takeRequestOctets(more);
        if (refusal == null) {
            held.addAndGet(more);
        } else {
            ended = true;
            told.accept(refusal);
        }
    }

    private void release() {
        ApiConnection holder = connection;
        if (holder != null && held.get() > 0) {
            holder.giveRequestOctets(held.getAndSet(0));
        }
    }
}
