// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.QueuePairCounters;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.StreamError;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Span of one connection, from the call that created it until it is closed. */
public final class ConnectionSpan {

    private final Span span;

    private ConnectionSpan(Span span) {
        this.span = span;
    }

    /** Returns a span that records nothing. */
    public static ConnectionSpan none() {
        return new ConnectionSpan(Span.getInvalid());
    }

    /** @param parent span of the Connect or Accept call */
    public static ConnectionSpan start(
            Telemetry telemetry,
            Context parent,
            long connection,
            boolean initiator,
            String session,
            InetSocketAddress peer) {
        if (!telemetry.isTracing()) {
            return none();
        }
        return new ConnectionSpan(telemetry
                .tracer()
                .spanBuilder("connection")
                .setParent(parent)
                .setSpanKind(initiator ? SpanKind.CLIENT : SpanKind.SERVER)
                .setAttribute("sidewarp.connection", connection)
                .setAttribute("sidewarp.session.name", session)
                .setAttribute("sidewarp.role", initiator ? "initiator" : "responder")
                .setAttribute("network.peer.address", peer.getAddress().getHostAddress())
                .setAttribute("network.peer.port", peer.getPort())
                .startSpan());
    }

    /** Adds the parameters that both sides agreed on during start-up. */
    public void established(ConnectionAttributes agreed) {
        if (!span.isRecording()) {
            return;
        }
        span.setAttribute(
                        "network.peer.address",
                        agreed.remoteAddress().getAddress().getHostAddress())
                .setAttribute("sidewarp.llp", agreed.llp().name())
                .setAttribute("sidewarp.mpa.revision", agreed.mpaRevision())
                .setAttribute("sidewarp.mpa.peer_to_peer", agreed.peerToPeer())
                .setAttribute("sidewarp.crc", agreed.crc())
                .setAttribute("sidewarp.markers.received", agreed.receiveMarkers())
                .setAttribute("sidewarp.markers.sent", agreed.sendMarkers())
                .setAttribute("sidewarp.ird", agreed.ird())
                .setAttribute("sidewarp.ord", agreed.ord());
        span.addEvent("established");
    }

    /** Adds a change of state. */
    public void moved(QueuePairState state, @Nullable StreamError error, String message) {
        if (!span.isRecording()) {
            return;
        }
        span.addEvent(
                "state",
                Attributes.of(
                        AttributeKey.stringKey("state"), state.name(), AttributeKey.stringKey("message"), message));
        if (error != null) {
            span.setStatus(StatusCode.ERROR, error.toString());
        }
    }

    /** Records that the set-up failed. */
    public void failed(String message) {
        span.setStatus(StatusCode.ERROR, message);
    }

    /** Ends the span of a closed connection. */
    public void end(QueuePairCounters counters) {
        span.setAttribute("sidewarp.octets.sent", counters.octetsSent())
                .setAttribute("sidewarp.octets.received", counters.octetsReceived());
        span.end();
    }
}
