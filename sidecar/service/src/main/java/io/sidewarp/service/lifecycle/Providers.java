// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import io.netty.channel.EventLoopGroup;
import io.sidewarp.common.LogText;
import io.sidewarp.engine.llp.sctp.AdaptationSettings;
import io.sidewarp.engine.net.CongestionControl;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.net.PeerLimit;
import io.sidewarp.engine.net.sctp.SctpOverUdp;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.SctpStack;
import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.net.sctp.kernel.KernelSctp;
import io.sidewarp.engine.net.sctp.usrsctp.Usrsctp;
import io.sidewarp.engine.net.tls.TlsIdentity;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.provider.RdmaProvider;
import io.sidewarp.provider.kernel.KernelLimits;
import io.sidewarp.provider.kernel.KernelProvider;
import io.sidewarp.provider.kernel.KernelVerbsUnavailableException;
import io.sidewarp.provider.software.SecurityDenial;
import io.sidewarp.provider.software.SoftwareEvents;
import io.sidewarp.provider.software.SoftwareProvider;
import io.sidewarp.provider.software.SoftwareSettings;
import io.sidewarp.provider.software.sctp.SoftwareSctp;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.telemetry.StartupFailure;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.settings.AdvancedConfig;
import io.sidewarp.settings.ConfigValidator;
import io.sidewarp.settings.SidewarpConfig;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/** Creates the provider that the settings name. */
final class Providers {

    private static final Logger LOG = Logger.getLogger(Providers.class);

    private Providers() {}

    /** @param denials takes the reason of each connection that a listener denied; must not block */
    static RdmaProvider create(
            SidewarpConfig config,
            EventLoopGroup loops,
            Telemetry telemetry,
            PeerLogs logs,
            TlsIdentity identity,
            Consumer<String> denials) {
        return KernelProvider.NAME.equals(ConfigValidator.provider(config))
                ? kernel(config)
                : software(config, loops, new Events(telemetry, logs, denials), identity);
    }

    /** Opens the device. Fails if it does not exist. */
    static Device open(RdmaProvider provider) {
        try {
            return provider.open();
        } catch (KernelVerbsUnavailableException e) {
            throw new StartFailedException(
                    "RDMA is to be carried out by the kernel (sidewarp.provider), but " + e.getMessage(), e);
        }
    }

    private static RdmaProvider kernel(SidewarpConfig config) {
        SidewarpConfig.Limits limits = config.limits();
        LockedMemory.ofThisProcess()
                .problem(limits.registeredOctets())
                .ifPresent(problem -> LOG.warnf("event=locked-memory-limit message=%s", LogText.quoted(problem)));
        return new KernelProvider(
                config.rdmaDevices().orElse(List.of()),
                new KernelLimits(limits.sendQueue(), limits.receiveQueue(), limits.ird(), limits.ord()));
    }

    private static RdmaProvider software(
            SidewarpConfig config, EventLoopGroup loops, SoftwareEvents events, TlsIdentity identity) {
        SoftwareSettings defaults = SoftwareSettings.defaults();
        SidewarpConfig.Limits limits = config.limits();
        SoftwareSettings settings = new SoftwareSettings(
                net(defaults.net(), config),
                limits.sendQueue(),
                limits.receiveQueue(),
                limits.ird(),
                limits.ord(),
                config.extensions(),
                limits.totalRegions(),
                limits.shortSegments(),
                defaults.terminateTimeout(),
                config.connection().firstFpduDelay());
        List<InetAddress> sctpAddresses = ConfigValidator.sctpAddresses(config);
        requireLocal("sidewarp.sctp.addresses has ", sctpAddresses);
        requireLocal(
                "sidewarp.connection.listen-address is ",
                ConfigValidator.listenAddress(config).stream().toList());
        return SoftwareProvider.builder()
                .sctp(new SoftwareSctp(
                        sctpStack(config.sctp().stack()),
                        sctpAddresses,
                        sctp(
                                SctpSettings.defaults(),
                                config.sctp(),
                                config.advanced().sctp()),
                        adaptation(AdaptationSettings.defaults(), config)))
                .settings(settings)
                .eventLoopGroup(loops)
                .events(events)
                .identity(identity)
                .build();
    }

    /**
     * Returns the SCTP implementation. The kernel's SCTP is loaded now, so that its absence prevents the start. The
     * library for SCTP in UDP is loaded when it is needed.
     */
    private static Supplier<SctpStack> sctpStack(SidewarpConfig.SctpStackKind kind) {
        if (kind == SidewarpConfig.SctpStackKind.UDP) {
            return () -> new SctpOverUdp(Usrsctp.load());
        }
        try {
            SctpStack kernel = KernelSctp.load();
            return () -> kernel;
        } catch (SctpUnavailableException e) {
            throw new StartFailedException("sidewarp.sctp.stack is kernel, but " + e.getMessage(), e);
        }
    }

    /**
     * Fails if an address does not belong to this machine. Loopback addresses are not checked, because the loopback
     * interface lists only some of them.
     */
    private static void requireLocal(String setting, List<InetAddress> addresses) {
        for (InetAddress address : addresses) {
            try {
                if (!address.isLoopbackAddress() && NetworkInterface.getByInetAddress(address) == null) {
                    throw new StartFailedException(
                            setting + address.getHostAddress() + ", which is no address of this machine or pod", null);
                }
            } catch (SocketException e) {
                throw new StartFailedException("cannot list the addresses of this machine: " + e.getMessage(), e);
            }
        }
    }

    private static NetSettings net(NetSettings defaults, SidewarpConfig config) {
        return defaults.withOutputBuffers(
                        config.limits().outputBuffers(), config.limits().largeOutputBuffers())
                .withReassemblyOctets(config.limits().reassemblyOctets())
                .withLingerTimeout(config.advanced().connection().lingerTimeout())
                .withStallTimeout(config.connection().stallTimeout())
                .withKeepAlive(config.connection().keepAlive())
                .withCongestionControl(congestionControl(config));
    }

    private static String congestionControl(SidewarpConfig config) {
        String name = config.connection().congestionControl().orElse(CongestionControl.AUTOMATIC);
        try {
            CongestionControl.require(name);
        } catch (IllegalArgumentException e) {
            throw new StartFailedException(
                    "sidewarp.connection.congestion-control is " + name + ", but " + e.getMessage(), e);
        }
        return name;
    }

    private static SctpSettings sctp(SctpSettings defaults, SidewarpConfig.Sctp config, AdvancedConfig.Sctp advanced) {
        return defaults.toBuilder()
                .udpPort(config.udpPort())
                .streams(advanced.streams())
                .maxPathMtu(advanced.maxPathMtu())
                .sendBuffer(advanced.sendBuffer())
                .receiveBuffer(advanced.receiveBuffer())
                .heartbeatInterval(advanced.heartbeatInterval())
                .sackDelay(advanced.sackDelay())
                .rtoMin(advanced.rtoMin())
                .rtoInitial(advanced.rtoInitial())
                .rtoMax(advanced.rtoMax())
                .pathRetransmissions(advanced.pathRetransmissions())
                .associationRetransmissions(advanced.associationRetransmissions())
                .maxAssociations(config.associations())
                .maxHalfOpen(config.halfOpenAssociations())
                .build();
    }

    private static AdaptationSettings adaptation(AdaptationSettings defaults, SidewarpConfig config) {
        return new AdaptationSettings(
                config.sctp().reorderOctets(),
                config.sctp().totalReorderOctets(),
                defaults.strangersOctets(),
                defaults.reorderDistance(),
                defaults.earlySessions(),
                defaults.unacknowledged(),
                config.advanced().connection().lingerTimeout());
    }

    /** Reports events that concern no connection of a session. */
    private record Events(Telemetry telemetry, PeerLogs logs, Consumer<String> denials) implements SoftwareEvents {

        @Override
        public void onStartupFailed(InetSocketAddress remote, String message) {
            telemetry.connections().failed(false, StartupFailure.STARTUP);
            logs.startup().warn(() -> "remote=" + remote + " message=" + LogText.quoted(message));
        }

        @Override
        public void onDenied(InetSocketAddress remote, SecurityDenial reason, String message) {
            telemetry.connections().denied(reason);
            denials.accept(message);
            logs.denied()
                    .warn(() ->
                            "remote=" + remote + " reason=" + reason.label() + " message=" + LogText.quoted(message));
        }

        @Override
        public void onRefused(InetSocketAddress remote, String limit) {
            telemetry.connections().failed(false, StartupFailure.LIMIT);
            logs.startup().warn(() -> "remote=" + remote + " message=\"refused, too many " + limit + "\"");
        }

        @Override
        public void onPeerLimit(PeerLimit limit) {
            telemetry.connections().limited(limit);
        }

        @Override
        public void onAssociationClosed(long retransmittedChunks) {
            telemetry.associations().closed(retransmittedChunks);
        }

        @Override
        public void onFault(Throwable fault) {
            logs.internal().error(() -> "message=\"" + fault + "\"", fault);
        }
    }
}
