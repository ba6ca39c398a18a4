// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.quota.RequestLimits;
import io.sidewarp.settings.AdvancedConfig;
import io.sidewarp.v1.ConnectionOptions;
import java.math.BigDecimal;
import java.time.Duration;

/**
 * Parameters for a new connection: the caller's checked options, and defaults for unset options.
 *
 * @param domain the API's id of the protection domain; 0: the session's default
 * @param receiveQueue maximum number of outstanding receives of its own; 0 with shared receives
 * @param sharedReceives the API's id of the shared receive queue to use; 0: none
 */
record ConnectionPlan(
        long domain, int sendQueue, int receiveQueue, long sharedReceives, ConnectionParameters parameters) {

    private static final Duration MAX_TIMEOUT = Duration.ofHours(1);

    static ConnectionPlan of(ConnectionOptions options, ByteString privateData, SessionContext context) {
        checkPrivateData(privateData, context);
        RequestLimits limits = context.requests();
        AdvancedConfig.Connection defaults = context.config().advanced().connection();
        int sendQueue = limits.sendQueue().check("options.send_queue", options.getSendQueue(), defaults.sendQueue());
        int receiveQueue = options.getSharedReceiveQueue() == 0
                ? limits.receiveQueue()
                        .check("options.receive_queue", options.getReceiveQueue(), defaults.receiveQueue())
                : noReceiveQueue(options);
        int ird = options.hasIrd()
                ? limits.ird().check("options.ird", options.getIrd())
                : Math.min(defaults.ird(), context.limits().ird());
        int ord = options.hasOrd()
                ? limits.ord().check("options.ord", options.getOrd())
                : Math.min(defaults.ord(), context.limits().ord());
        Duration timeout = timeout(options, context);
        ConnectionParameters parameters = new ConnectionParameters(
                        llp(options.getLlp(), options.getLlpValue(), context.device()),
                        privateData.toByteArray(),
                        ird,
                        ord,
                        StartupPolicy.of(options, context.config()),
                        udpPort(options, context),
                        timeout,
                        timeout)
                .withSecurity(SecurityRules.of(options, context));
        return new ConnectionPlan(
                options.getProtectionDomain(), sendQueue, receiveQueue, options.getSharedReceiveQueue(), parameters);
    }

    /** Returns a plan with another policy about TLS and peers. */
    ConnectionPlan withSecurity(SecurityPolicy policy) {
        return new ConnectionPlan(domain, sendQueue, receiveQueue, sharedReceives, parameters.withSecurity(policy));
    }

    private static int noReceiveQueue(ConnectionOptions options) {
        if (options.getReceiveQueue() != 0) {
            throw ApiError.invalid("options.receive_queue is " + Integer.toUnsignedString(options.getReceiveQueue())
                    + ", but with options.shared_receive_queue the connection has no receive queue of its own; leave"
                    + " one of them unset");
        }
        return 0;
    }

    static void checkPrivateData(ByteString privateData, SessionContext context) {
        int limit = context.limits().privateData();
        if (privateData.size() > limit) {
            throw ApiError.invalid("private_data", privateData.size() + " bytes", "at most " + limit + " bytes");
        }
    }

    /** Checks that a connection uses the same lower layer as its listener. */
    static void checkLlp(ConnectionOptions options, io.sidewarp.v1.Llp listener) {
        io.sidewarp.v1.Llp own = listener == io.sidewarp.v1.Llp.LLP_UNSPECIFIED ? io.sidewarp.v1.Llp.LLP_TCP : listener;
        if (options.getLlp() != io.sidewarp.v1.Llp.LLP_UNSPECIFIED && options.getLlp() != own) {
            throw ApiError.invalid("options.llp is " + options.getLlp() + ", but the llp of the listener is " + own
                    + "; leave options.llp unset, and listen at the one that you want");
        }
    }

    /**
     * Returns a lower layer that this device supports.
     *
     * @param value numeric value of {@code llp}, for the message about an unknown one
     */
    static Llp llp(io.sidewarp.v1.Llp llp, int value, Device device) {
        Llp wanted = switch (llp) {
            case LLP_UNSPECIFIED, LLP_TCP -> Llp.TCP;
            case LLP_SCTP -> Llp.SCTP;
            case UNRECOGNIZED -> throw ApiError.invalid("llp", value, "LLP_TCP, LLP_SCTP");
        };
        device.absence(wanted).ifPresent(absence -> {
            throw ApiError.of(
                    Status.Code.UNIMPLEMENTED,
                    "llp is " + llp + "; this sidecar has "
                            + device.attributes().llps() + " (DeviceInfo.llps): " + absence);
        });
        return wanted;
    }

    private static int udpPort(ConnectionOptions options, SessionContext context) {
        int port = options.getUdpPort();
        if (port < 0 || port > AddressResolver.MAX_PORT) {
            throw ApiError.invalid(
                    "options.udp_port",
                    Integer.toUnsignedString(port),
                    "1 to " + AddressResolver.MAX_PORT + ", or 0 for the default");
        }
        return port == 0 ? context.config().advanced().connection().udpPort() : port;
    }

    static Duration timeout(ConnectionOptions options, SessionContext context) {
        if (!options.hasTimeout()) {
            return context.config().connection().timeout();
        }
        long seconds = options.getTimeout().getSeconds();
        int nanos = options.getTimeout().getNanos();
        Duration timeout =
                seconds < 0 || seconds > MAX_TIMEOUT.toSeconds() ? Duration.ZERO : Duration.ofSeconds(seconds, nanos);
        if (timeout.compareTo(Duration.ofMillis(1)) < 0 || timeout.compareTo(MAX_TIMEOUT) > 0) {
            BigDecimal asked = BigDecimal.valueOf(nanos, 9)
                    .add(BigDecimal.valueOf(seconds))
                    .stripTrailingZeros();
            throw ApiError.invalid(
                    "options.timeout", asked.toPlainString() + " s", "1 ms to 1 h, or unset for the default");
        }
        return timeout;
    }
}
