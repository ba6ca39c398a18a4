// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.RawUnixChannelOption;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TCP's congestion control (RFC 5681). Linux selects it by name: {@code cubic}, {@code reno}, {@code bbr},
 * {@code dctcp}.
 */
public final class CongestionControl {

    /**
     * Default of a connection without a setting: the congestion control of the machine, or of the pod's network
     * namespace. The default is {@link #LOCAL} when both ends are in the same network namespace.
     */
    public static final String AUTOMATIC = "";

    /**
     * Congestion control for a connection without a network between its ends. It does not pace. Every Linux kernel has
     * it and lets every process use it.
     *
     * <p>Such a connection has no path to share or to probe. The timers with which BBR paces would cost a virtual
     * machine up to a third of a stream's rate.
     */
    public static final String LOCAL = "reno";

    /** Longest name in bytes: TCP_CA_NAME_MAX of Linux without the closing zero. */
    public static final int MAX_NAME = 15;

    /** Common prefix of the names of BBR's versions. */
    private static final String BBR = "bbr";

    private static final Logger LOG = LoggerFactory.getLogger(CongestionControl.class);

    private static final int IPPROTO_TCP = 6;
    private static final int TCP_CONGESTION = 13;
    private static final RawUnixChannelOption OPTION =
            new RawUnixChannelOption("TCP_CONGESTION", IPPROTO_TCP, TCP_CONGESTION, MAX_NAME + 1);
    private static final Path ALLOWED = Path.of("/proc/sys/net/ipv4/tcp_allowed_congestion_control");

    private CongestionControl() {}

    /**
     * Checks that connections can use the named congestion control.
     *
     * @throws IllegalArgumentException when they cannot; the message says why, and what to do
     */
    public static void require(String name) {
        if (name.equals(AUTOMATIC)) {
            return;
        }
        Optional<String> noEpoll = EngineLoops.whyNoEpoll();
        if (noEpoll.isPresent()) {
            throw new IllegalArgumentException("only native epoll can set it, and native epoll is not available;"
                    + " remove the setting, or make native epoll available: " + noEpoll.get());
        }
        EpollSocketChannel probe = new EpollSocketChannel();
        try {
            apply(probe, name);
        } catch (ChannelException e) {
            throw new IllegalArgumentException(
                    "the kernel does not have it, or does not let this process use it" + allowed()
                            + "; choose another one, or have the node's administrator load its module and add it to"
                            + " net.ipv4.tcp_allowed_congestion_control",
                    e);
        } finally {
            probe.unsafe().closeForcibly();
        }
    }

    /**
     * Sets the congestion control of a connection, which may be open already. {@link #require} has accepted the name.
     */
    static void apply(SocketChannel channel, String name) {
        if (!name.equals(AUTOMATIC)) {
            set(channel, name);
        }
    }

    /**
     * Sets the congestion control of a connection that is open now and whose peer is known. {@link #require} has
     * accepted the name.
     */
    static void applyConnected(SocketChannel channel, String name) {
        if (name.equals(AUTOMATIC)
                && channel instanceof EpollSocketChannel
                && isLocal(channel.localAddress(), channel.remoteAddress())) {
            try {
                set(channel, LOCAL);
            } catch (ChannelException e) {
                // Either the connection is gone already, or the machine's congestion control suffices.
                LOG.debug("{} keeps the machine's congestion control: {}", channel, e.toString());
            }
        }
    }

    /**
     * Returns whether both ends have the same address, or addresses of the loopback interface. False for unknown
     * addresses.
     */
    static boolean isLocal(@Nullable InetSocketAddress local, @Nullable InetSocketAddress remote) {
        return local != null
                && remote != null
                && (remote.getAddress().isLoopbackAddress()
                        || remote.getAddress().equals(local.getAddress()));
    }

    /**
     * Returns whether the connection's congestion control paces: it spreads the data that it may send over time, as all
     * versions of BBR do.
     */
    static boolean paces(EpollSocketChannel channel) {
        try {
            ByteBuffer name = channel.config().getOption(OPTION);
            return US_ASCII.decode(name).toString().startsWith(BBR);
        } catch (ChannelException e) {
            // The connection is gone.
            return false;
        }
    }

    private static void set(SocketChannel channel, String name) {
        ByteBuffer value = ByteBuffer.allocate(MAX_NAME + 1);
        value.put(name.getBytes(US_ASCII)).rewind();
        channel.config().setOption(OPTION, value);
    }

    /**
     * Returns the names that the kernel lets every process use. The kernel lists them in the first network namespace
     * only.
     */
    private static String allowed() {
        try {
            return " (every process may use "
                    + Files.readString(ALLOWED, US_ASCII).strip() + ")";
        } catch (IOException e) {
            return "";
        }
    }
}
