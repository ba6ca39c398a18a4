// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.LongCounter;
import io.opentelemetry.api.metrics.Meter;
import io.sidewarp.engine.net.PeerLimit;
import io.sidewarp.engine.verbs.ProtocolError;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.provider.software.SecurityDenial;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts connections by state, and those that were established, failed, were terminated or exceeded a limit.
 * Thread-safe.
 */
public final class ConnectionMetrics {

    private static final AttributeKey<String> STATE = AttributeKey.stringKey("state");
    private static final AttributeKey<String> ROLE = AttributeKey.stringKey("role");
    private static final AttributeKey<String> REASON = AttributeKey.stringKey("reason");
    private static final AttributeKey<String> LIMIT = AttributeKey.stringKey("limit");
    private static final AttributeKey<String> LAYER = AttributeKey.stringKey("layer");
    private static final AttributeKey<Long> TYPE = AttributeKey.longKey("type");
    private static final AttributeKey<Long> CODE = AttributeKey.longKey("code");
    private static final AttributeKey<String> DIRECTION = AttributeKey.stringKey("direction");
    private static final String[] LAYERS = {"rdmap", "ddp", "llp"};

    private final Map<QueuePairState, LongAdder> states = new EnumMap<>(QueuePairState.class);
    private final LongCounter established;
    private final LongCounter failed;
    private final LongCounter denied;
    private final LongCounter terminates;
    private final LongCounter limits;

    ConnectionMetrics(Meter meter) {
        for (QueuePairState state : QueuePairState.values()) {
            if (state != QueuePairState.CLOSED) {
                states.put(state, new LongAdder());
            }
        }
        meter.gaugeBuilder("sidewarp.connections")
                .ofLongs()
                .setDescription("Connections by state")
                .setUnit("{connection}")
                .buildWithCallback(measurement -> states.forEach(
                        (state, count) -> measurement.record(count.sum(), Attributes.of(STATE, name(state)))));
        established = meter.counterBuilder("sidewarp.connections.established")
                .setDescription("Connections that reached full operation")
                .setUnit("{connection}")
                .build();
        failed = meter.counterBuilder("sidewarp.startup.failures")
                .setDescription("Connections that failed before they reached full operation")
                .setUnit("{connection}")
                .build();
        denied = meter.counterBuilder("sidewarp.connections.denied")
                .setDescription("Connections that the policy of a listener denied")
                .setUnit("{connection}")
                .build();
        terminates = meter.counterBuilder("sidewarp.terminates")
                .setDescription("Errors that ended connections, by what a Terminate message carries")
                .setUnit("{terminate}")
                .build();
        limits = meter.counterBuilder("sidewarp.peer.limits")
                .setDescription("Connections that were aborted because the peer exceeded a limit")
                .setUnit("{connection}")
                .build();
        begin();
    }

    /** Creates each series with the value 0, because alerts need a series before the first event. */
    private void begin() {
        for (PeerLimit limit : PeerLimit.values()) {
            limits.add(0, Attributes.of(LIMIT, name(limit)));
        }
        for (SecurityDenial reason : SecurityDenial.values()) {
            denied.add(0, Attributes.of(REASON, reason.label()));
        }
        for (boolean initiator : new boolean[] {true, false}) {
            established.add(0, Attributes.of(ROLE, role(initiator)));
            for (StartupFailure reason : StartupFailure.values()) {
                if (reason.concerns(initiator)) {
                    failed.add(0, failure(initiator, reason));
                }
            }
        }
    }

    /** Counts a change of state; {@code from} is null for a new connection. */
    public void moved(@Nullable QueuePairState from, QueuePairState to) {
        LongAdder left = from == null ? null : states.get(from);
        if (left != null) {
            left.decrement();
        }
        LongAdder entered = states.get(to);
        if (entered != null) {
            entered.increment();
        }
    }

    public void established(boolean initiator) {
        established.add(1, Attributes.of(ROLE, role(initiator)));
    }

    public void failed(boolean initiator, StartupFailure reason) {
        failed.add(1, failure(initiator, reason));
    }

    /** Counts a connection that the policy of a listener denied. */
    public void denied(SecurityDenial reason) {
        denied.add(1, Attributes.of(REASON, reason.label()));
        failed(false, StartupFailure.SECURITY);
    }

    private static Attributes failure(boolean initiator, StartupFailure reason) {
        return Attributes.of(ROLE, role(initiator), REASON, reason.label());
    }

    /**
     * Counts an error that ended a connection. All errors that no RFC defines share one series, because a series is
     * never removed.
     */
    public void terminated(StreamError error) {
        Optional<ProtocolError> defined = error.definition();
        terminates.add(
                1,
                Attributes.of(
                        LAYER,
                        defined.map(known -> LAYERS[known.layer()]).orElse("other"),
                        TYPE,
                        defined.map(known -> (long) known.type()).orElse(0L),
                        CODE,
                        defined.map(known -> (long) known.code()).orElse(0L),
                        DIRECTION,
                        error.remote() ? "in" : "out"));
    }

    /** Counts a connection that was aborted because the peer exceeded a limit. */
    public void limited(PeerLimit limit) {
        limits.add(1, Attributes.of(LIMIT, name(limit)));
    }

    private static String name(PeerLimit limit) {
        return limit.name().toLowerCase(Locale.ROOT);
    }

    private static String name(QueuePairState state) {
        return switch (state) {
            case RTS -> "established";
            case TERMINATE -> "terminated";
            default -> state.name().toLowerCase(Locale.ROOT);
        };
    }

    private static String role(boolean initiator) {
        return initiator ? "initiator" : "responder";
    }
}
