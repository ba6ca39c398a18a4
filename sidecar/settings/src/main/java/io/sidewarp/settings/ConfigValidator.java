// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.settings;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import io.netty.util.NetUtil;
import io.sidewarp.engine.memory.StagTable;
import io.sidewarp.engine.net.CongestionControl;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.PeerPattern;
import io.sidewarp.engine.verbs.RtrKind;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.provider.kernel.KernelProvider;
import io.sidewarp.provider.software.SoftwareProvider;
import io.sidewarp.provider.software.SoftwareSettings;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Finds settings that cannot work, so that the sidecar refuses to start and says what to change. */
public final class ConfigValidator {

    /** Maximum length of a Unix socket path in bytes, as the JDK accepts it: the size of sun_path minus two. */
    private static final int MAX_SOCKET_PATH = 106;

    /**
     * Maximum length of the socket's directory in bytes. The socket is first bound at {@code .abc/s} in that directory.
     */
    private static final int MAX_SOCKET_DIRECTORY = MAX_SOCKET_PATH - 7;

    /** Value of {@link SidewarpConfig#provider} that chooses automatically. */
    private static final String AUTO_PROVIDER = "auto";

    /** Smallest limit whose fair share lets one connection have two calls: that of its session and one more. */
    private static final int MIN_CALLS = 6;

    /** Buffer for the longest FPDU, rounded up to a power of two. */
    private static final int MIN_REASSEMBLY_OCTETS = 131_072;

    /** Smallest limit whose fair share lets one session have a connection with one entry in each queue. */
    private static final int MIN_WORK_ENTRIES = 6;

    /** Smallest limit whose fair share lets one session have one region. */
    private static final int MIN_TOTAL_REGIONS = 3;

    private static final Pattern CONGESTION_CONTROL =
            Pattern.compile("[A-Za-z0-9_-]{1," + CongestionControl.MAX_NAME + "}");

    private final List<String> problems = new ArrayList<>();

    private ConfigValidator() {}

    /** Returns all problems, each with the setting's name, its value, the allowed values and a remedy. Empty: none. */
    public static List<String> problems(SidewarpConfig config) {
        ConfigValidator validator = new ConfigValidator();
        validator.general(config);
        validator.api(config.api(), config.advanced().api().tcp().host());
        validator.management(config.management());
        validator.limits(config.limits());
        validator.connection(config.connection());
        validator.security(config);
        validator.startup(config.connection(), config.advanced().connection());
        validator.connection(config.advanced().connection(), config.limits());
        IdentityCheck.check(config.identity(), validator.problems);
        validator.sctp(config.sctp());
        validator.sctp(config.advanced().sctp());
        validator.rest(config.advanced());
        return List.copyOf(validator.problems);
    }

    /** Returns the name of the provider to use. Legal after {@link #problems} found none. */
    public static String provider(SidewarpConfig config) {
        if (!AUTO_PROVIDER.equals(config.provider())) {
            return config.provider();
        }
        boolean software = config.rdmaDevices().orElse(List.of()).isEmpty() || needsTls(config);
        return software ? SoftwareProvider.NAME : KernelProvider.NAME;
    }

    private static boolean needsTls(SidewarpConfig config) {
        return SecuritySettings.byDefault(config.connection()) == TlsUse.REQUIRED;
    }

    /** Returns the mode of the API's socket as a number. Legal after {@link #problems} found none. */
    public static int socketMode(SidewarpConfig.Api api) {
        return Integer.parseInt(api.socketMode(), 8);
    }

    private void general(SidewarpConfig config) {
        if (!List.of(SoftwareProvider.NAME, KernelProvider.NAME, AUTO_PROVIDER).contains(config.provider())) {
            add(
                    "sidewarp.provider",
                    config.provider(),
                    SoftwareProvider.NAME + ", " + KernelProvider.NAME + " for an iWARP device of the kernel, or "
                            + AUTO_PROVIDER);
        }
        config.eventLoops().ifPresent(loops -> range("sidewarp.event-loops", loops, 1, 1024));
        config.advanced()
                .busyPollMicros()
                .ifPresent(micros -> range("sidewarp.advanced.busy-poll-micros", micros, 0, 1_000_000));
        range("sidewarp.advanced.worker-threads", config.advanced().workerThreads(), 1, 1024);
        duration("sidewarp.drain-timeout", config.drainTimeout(), Duration.ZERO, ofHours(1));
    }

    private void api(SidewarpConfig.Api api, String tcpHost) {
        if (!api.socket().startsWith("/")
                || Path.of(api.socket()).getParent() == null
                || octets(api.socket()) > MAX_SOCKET_PATH
                || octets(api.socket().substring(0, api.socket().lastIndexOf('/'))) > MAX_SOCKET_DIRECTORY) {
            add(
                    "sidewarp.api.socket",
                    api.socket(),
                    "an absolute path of at most " + MAX_SOCKET_PATH + " bytes, of which its directory has at most "
                            + MAX_SOCKET_DIRECTORY);
        }
        if (!api.socketMode().matches("0?[0-7]{3}")) {
            add("sidewarp.api.socket-mode", api.socketMode(), "an octal mode such as 0660");
        }
        api.tcp().port().ifPresent(port -> {
            range("sidewarp.api.tcp.port", port, 0, 65_535);
            loopback(tcpHost);
            if (api.allowedUids().isPresent() || api.allowedGids().isPresent()) {
                problems.add("sidewarp.api.tcp.port is set together with sidewarp.api.allowed-uids or -gids, but TCP "
                        + "peers have no user to check; unset one of them");
            }
        });
        ids("sidewarp.api.allowed-uids", api.allowedUids());
        ids("sidewarp.api.allowed-gids", api.allowedGids());
    }

    private void loopback(String host) {
        boolean loopback;
        try {
            loopback = InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            loopback = false;
        }
        if (!loopback) {
            add(
                    "sidewarp.advanced.api.tcp.host",
                    host,
                    "a loopback address such as 127.0.0.1, since TCP peers are not known");
        }
    }

    private static int octets(String path) {
        return path.getBytes(StandardCharsets.UTF_8).length;
    }

    private void management(SidewarpConfig.Management management) {
        range("sidewarp.management.port", management.port(), 0, 65_535);
        range("sidewarp.management.connections", management.connections(), 1, 1024);
    }

    private void limits(SidewarpConfig.Limits limits) {
        range("sidewarp.limits.api-connections", limits.apiConnections(), 2, 1 << 20);
        range("sidewarp.limits.api-connection-calls", limits.apiConnectionCalls(), 1, 1 << 20);
        range("sidewarp.limits.api-calls", limits.apiCalls(), MIN_CALLS, 1 << 24);
        range("sidewarp.limits.sessions", limits.sessions(), 1, 1 << 20);
        range("sidewarp.limits.regions", limits.regions(), 1, StagTable.MAX_REGIONS);
        range("sidewarp.limits.total-regions", limits.totalRegions(), MIN_TOTAL_REGIONS, StagTable.MAX_REGIONS);
        range("sidewarp.limits.registered-octets", limits.registeredOctets(), 1, Long.MAX_VALUE);
        range("sidewarp.limits.managed-region-octets", limits.managedRegionOctets(), 0, Long.MAX_VALUE);
        range("sidewarp.limits.managed-octets", limits.managedOctets(), 0, Long.MAX_VALUE / 4);
        range("sidewarp.limits.connections", limits.connections(), 1, 1 << 20);
        range("sidewarp.limits.lookups", limits.lookups(), 1, 64);
        range("sidewarp.limits.completion-entries", limits.completionEntries(), 2, Long.MAX_VALUE);
        range("sidewarp.limits.work-entries", limits.workEntries(), MIN_WORK_ENTRIES, Long.MAX_VALUE / 4);
        range("sidewarp.limits.read-requests", limits.readRequests(), 0, Long.MAX_VALUE);
        range("sidewarp.limits.receives", limits.receives(), 1, Long.MAX_VALUE);
        range("sidewarp.limits.shared-receive-queues", limits.sharedReceiveQueues(), 0, 1 << 20);
        range("sidewarp.limits.peer-connections", limits.peerConnections(), 1, 1 << 20);
        range("sidewarp.limits.peer-read-requests", limits.peerReadRequests(), 0, Long.MAX_VALUE);
        range("sidewarp.limits.listeners", limits.listeners(), 0, 65_535);
        range("sidewarp.limits.protection-domains", limits.protectionDomains(), 1, 1 << 20);
        SoftwareSettings provider = SoftwareSettings.defaults();
        range("sidewarp.limits.send-queue", limits.sendQueue(), 1, provider.maxSendQueue());
        range("sidewarp.limits.receive-queue", limits.receiveQueue(), 1, provider.maxReceiveQueue());
        range("sidewarp.limits.ird", limits.ird(), 0, provider.maxIrd());
        range("sidewarp.limits.ord", limits.ord(), 0, provider.maxOrd());
        range("sidewarp.limits.queue-outstanding", limits.queueOutstanding(), 1, 1 << 20);
        range("sidewarp.limits.backlog", limits.backlog(), 1, 65_535);
        range("sidewarp.limits.startup-connections", limits.startupConnections(), 1, 65_535);
        range("sidewarp.limits.output-buffers", limits.outputBuffers(), 1, 65_536);
        range("sidewarp.limits.large-output-buffers", limits.largeOutputBuffers(), 0, 65_536);
        range("sidewarp.limits.reassembly-octets", limits.reassemblyOctets(), MIN_REASSEMBLY_OCTETS, Long.MAX_VALUE);
        range("sidewarp.limits.short-segments", limits.shortSegments(), 0, Integer.MAX_VALUE);
    }

    private void connection(SidewarpConfig.Connection connection) {
        connection.listenAddress().ifPresent(address -> {
            if (NetUtil.createInetAddressFromIpAddressString(address) == null) {
                add(
                        "sidewarp.connection.listen-address",
                        address,
                        "an IP address of this machine, or 0.0.0.0 or :: for all");
            }
        });
        duration("sidewarp.connection.timeout", connection.timeout(), ofMillis(1), ofHours(1));
        duration("sidewarp.connection.stall-timeout", connection.stallTimeout(), ofMillis(1), ofDays(1));
        if (!connection.keepAlive().isZero()) {
            duration("sidewarp.connection.keep-alive", connection.keepAlive(), ofSeconds(1), ofHours(4));
        }
        connection.congestionControl().ifPresent(name -> {
            if (!CONGESTION_CONTROL.matcher(name).matches()) {
                add(
                        "sidewarp.connection.congestion-control",
                        name,
                        "a name of Linux such as cubic, reno, bbr or dctcp");
            }
        });
        duration("sidewarp.connection.first-fpdu-delay", connection.firstFpduDelay(), Duration.ZERO, ofMinutes(1));
        connection.peers().ifPresent(this::peers);
    }

    private void security(SidewarpConfig config) {
        if (!needsTls(config)) {
            return;
        }
        String need = "connections need TLS because of sidewarp.connection."
                + (config.connection().security() == TlsUse.REQUIRED ? "security" : "peers");
        if (config.identity().source().isEmpty()) {
            problems.add(need + ", but this sidecar has no identity; set sidewarp.identity.source to builtin, files or"
                    + " spiffe");
        }
        if (KernelProvider.NAME.equals(config.provider())) {
            problems.add(need + ", but devices of the kernel speak no TLS; set sidewarp.provider to software or auto");
        }
    }

    private void peers(List<String> patterns) {
        range("the number of patterns of sidewarp.connection.peers", patterns.size(), 1, PeerPattern.MAX_PATTERNS);
        for (String pattern : patterns) {
            try {
                PeerPattern.parse(pattern.strip());
            } catch (IllegalArgumentException e) {
                add(
                        "sidewarp.connection.peers",
                        pattern.strip(),
                        "patterns of SPIFFE IDs, separated by commas: " + e.getMessage());
            }
        }
    }

    private void connection(AdvancedConfig.Connection connection, SidewarpConfig.Limits limits) {
        duration("sidewarp.advanced.connection.linger-timeout", connection.lingerTimeout(), ofMillis(1), ofHours(1));
        range("sidewarp.advanced.connection.udp-port", connection.udpPort(), 1, 65_535);
        atMost("ird", connection.ird(), 0, limits.ird());
        atMost("ord", connection.ord(), 0, limits.ord());
        atMost("send-queue", connection.sendQueue(), 1, limits.sendQueue());
        atMost("receive-queue", connection.receiveQueue(), 1, limits.receiveQueue());
        atMost("queue-outstanding", connection.queueOutstanding(), 1, limits.queueOutstanding());
        atMost("backlog", connection.backlog(), 1, limits.backlog());
    }

    private void startup(SidewarpConfig.Connection connection, AdvancedConfig.Connection advanced) {
        boolean crcOff = connection.crc() == CrcPolicy.REFUSED || connection.allowCrcOff();
        if (crcOff
                && connection
                        .integrityProtection()
                        .filter(said -> !said.isBlank())
                        .isEmpty()) {
            problems.add("CRCs may be off (sidewarp.connection.crc or sidewarp.connection.allow-crc-off) only where"
                    + " something else protects the data from end to end at least as well, such as IPsec with"
                    + " integrity (RFC 5044 section 4.4); name it in sidewarp.connection.integrity-protection");
        }
        if (crcOff && SecuritySettings.tlsReplacesCrc(connection)) {
            problems.add("sidewarp.connection.integrity-protection is TLS, which does not protect connections without"
                    + " TLS; CRCs are off in TLS without another setting, so unset sidewarp.connection.crc and"
                    + " sidewarp.connection.allow-crc-off");
        }
        range("sidewarp.advanced.connection.max-fpdu", advanced.maxFpdu(), 0, Integer.MAX_VALUE);
        Set<Integer> revisions = connection.mpaRevisions();
        if (!MpaPolicy.SUPPORTED_REVISIONS.containsAll(revisions)) {
            add("sidewarp.connection.mpa-revisions", revisions.toString(), "0, 1 and 2, separated by commas");
        } else if (connection.mpaRequestRevision() < 1 || !revisions.contains(connection.mpaRequestRevision())) {
            add(
                    "sidewarp.connection.mpa-request-revision",
                    Integer.toString(connection.mpaRequestRevision()),
                    "1 or 2, and one of sidewarp.connection.mpa-revisions");
        } else if (advanced.peerToPeer() && connection.mpaRequestRevision() != 2) {
            add(
                    "sidewarp.advanced.connection.peer-to-peer",
                    "true",
                    "true with sidewarp.connection.mpa-request-revision=2");
        }
        List<RtrKind> kinds = advanced.readyIndications();
        if (kinds.isEmpty() || Set.copyOf(kinds).size() < kinds.size()) {
            add(
                    "sidewarp.advanced.connection.ready-indications",
                    kinds.toString(),
                    "write, read and send, at least one of them, each once");
        }
    }

    private void sctp(SidewarpConfig.Sctp sctp) {
        sctpAddresses(sctp);
        range("sidewarp.sctp.udp-port", sctp.udpPort(), 0, 65_535);
        range("sidewarp.sctp.associations", sctp.associations(), 1, 65_535);
        range("sidewarp.sctp.half-open-associations", sctp.halfOpenAssociations(), 1, 65_535);
        range("sidewarp.sctp.reorder-octets", sctp.reorderOctets(), 1 << 16, 1 << 30);
        range("sidewarp.sctp.total-reorder-octets", sctp.totalReorderOctets(), 1 << 16, 1 << 30);
    }

    private void sctp(AdvancedConfig.Sctp sctp) {
        range("sidewarp.advanced.sctp.streams", sctp.streams(), 1, 65_535);
        if (sctp.maxPathMtu() != 0) {
            range("sidewarp.advanced.sctp.max-path-mtu", sctp.maxPathMtu(), SctpSettings.MIN_PATH_MTU, 65_535);
        }
        range("sidewarp.advanced.sctp.send-buffer", sctp.sendBuffer(), 1 << 16, 1 << 30);
        range("sidewarp.advanced.sctp.receive-buffer", sctp.receiveBuffer(), SctpSettings.MIN_RECEIVE_BUFFER, 1 << 30);
        duration("sidewarp.advanced.sctp.heartbeat-interval", sctp.heartbeatInterval(), ofMillis(100), ofHours(1));
        duration("sidewarp.advanced.sctp.sack-delay", sctp.sackDelay(), ofMillis(1), ofMillis(500));
        duration("sidewarp.advanced.sctp.rto-min", sctp.rtoMin(), ofMillis(1), sctp.rtoMax());
        duration("sidewarp.advanced.sctp.rto-initial", sctp.rtoInitial(), sctp.rtoMin(), sctp.rtoMax());
        duration("sidewarp.advanced.sctp.rto-max", sctp.rtoMax(), ofMillis(1), ofMinutes(10));
        range("sidewarp.advanced.sctp.path-retransmissions", sctp.pathRetransmissions(), 1, 100);
        range("sidewarp.advanced.sctp.association-retransmissions", sctp.associationRetransmissions(), 1, 100);
    }

    private void sctpAddresses(SidewarpConfig.Sctp sctp) {
        List<String> addresses = sctp.addresses().orElse(List.of());
        String given = String.join(",", addresses);
        boolean several = new HashSet<>(addresses).size() > 1;
        if (several && sctp.stack() == SidewarpConfig.SctpStackKind.UDP) {
            add("sidewarp.sctp.addresses", given, "one address, as sidewarp.sctp.stack is udp; several with kernel");
        } else if (!addresses.stream().allMatch(ConfigValidator::isBindable)) {
            add("sidewarp.sctp.addresses", given, "IP addresses of this machine, separated by commas, and no wildcard");
        }
    }

    private static boolean isBindable(String literal) {
        try {
            return !InetAddress.ofLiteral(literal).isAnyLocalAddress();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Returns the distinct addresses of SCTP endpoints. Legal after {@link #problems} found none. */
    public static List<InetAddress> sctpAddresses(SidewarpConfig config) {
        return config.sctp().addresses().orElse(List.of()).stream()
                .map(InetAddress::ofLiteral)
                .distinct()
                .toList();
    }

    /**
     * Returns the only address at which callers may listen; empty when it is a wildcard or unset. Legal after
     * {@link #problems} found none.
     */
    public static Optional<InetAddress> listenAddress(SidewarpConfig config) {
        return config.connection()
                .listenAddress()
                .map(NetUtil::createInetAddressFromIpAddressString)
                .filter(address -> !address.isAnyLocalAddress());
    }

    private void rest(AdvancedConfig config) {
        range("sidewarp.advanced.telemetry.latency-sampling", config.telemetry().latencySampling(), 1, 1 << 20);
        duration(
                "sidewarp.advanced.telemetry.shutdown-timeout",
                config.telemetry().shutdownTimeout(),
                Duration.ZERO,
                ofMinutes(1));
        range("sidewarp.advanced.log.messages-per-minute", config.log().messagesPerMinute(), 1, 1_000_000);
    }

    private void ids(String name, Optional<List<Long>> ids) {
        ids.ifPresent(list -> list.forEach(id -> range(name, id, 0, 0xFFFF_FFFFL)));
    }

    private void range(String name, long value, long low, long high) {
        if (value < low || value > high) {
            add(name, Long.toString(value), low + " to " + high);
        }
    }

    /** Checks the default of a connection option against the limit of the same name. */
    private void atMost(String name, int value, int low, int limit) {
        if (value < low || value > limit) {
            add(
                    "sidewarp.advanced.connection." + name,
                    Integer.toString(value),
                    low + " to " + limit + " (sidewarp.limits." + name + ")");
        }
    }

    private void duration(String name, Duration value, Duration low, Duration high) {
        if (value.compareTo(low) < 0 || value.compareTo(high) > 0) {
            add(name, written(value), written(low) + " to " + written(high));
        }
    }

    /** Writes a time as settings do, as in {@code 300ms} and {@code 10s}. */
    private static String written(Duration time) {
        if (!time.equals(time.truncatedTo(ChronoUnit.MILLIS))) {
            return time.toString();
        }
        if (!time.equals(time.truncatedTo(ChronoUnit.SECONDS))) {
            return time.toMillis() + "ms";
        }
        boolean hours = !time.isZero() && time.equals(time.truncatedTo(ChronoUnit.HOURS));
        return hours ? time.toHours() + "h" : time.toSeconds() + "s";
    }

    private void add(String name, String value, String allowed) {
        problems.add(name + " is " + value + "; allowed: " + allowed);
    }
}
