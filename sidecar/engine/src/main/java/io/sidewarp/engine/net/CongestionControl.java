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

/** TCP's congestion control (RFC 5681), which Linux has by name: {@code cubic}, {@code reno}, {@code bbr}, {@code dctcp}. */
public final class CongestionControl {

    /**
     * What a connection has that is not told otherwise: that of the machine, or of the pod's network namespace, but
     * {@link #LOCAL} when both ends are in the same one.
     */
    public static final String AUTOMATIC = "";

    /**
     * For a peer behind no network: one that does not pace, which every Linux kernel has and lets every process use. There
     * is no path to share with others or to probe, and the timers by which BBR paces cost a virtual machine up to a third of
     * a stream.
     */
    public static final String LOCAL = "reno";

    /** Octets of a name at most: TCP_CA_NAME_MAX of Linux less the closing zero. */
    public static final int MAX_NAME = 15;

    /** How the names of its versions begin. */
    private static final String BBR = "bbr";

    private static final Logger LOG = LoggerFactory.getLogger(CongestionControl.class);

    private static final int IPPROTO_TCP = 6;
    private static final int TCP_CONGESTION = 13;
    private static final RawUnixChannelOption OPTION =
            new RawUnixChannelOption("TCP_CONGESTION", IPPROTO_TCP, TCP_CONGESTION, MAX_NAME + 1);
    private static final Path ALLOWED = Path.of("/proc/sys/net/ipv4/tcp_allowed_congestion_control");

    private CongestionControl() {}

    /**
     * Makes sure that connections can have it.
     *
     * @throws IllegalArgumentException when they cannot: says why, and what to do
     */
    public static void require(String name) {
        if (name.equals(AUTOMATIC)) {
            return;
        }
        Optional<String> noEpoll = EngineLoops.whyNoEpoll();
        if (noEpoll.isPresent()) {
            throw new IllegalArgumentException("without native epoll a connection has that of the machine; leave the"
                    + " setting out, or see to it that there is native epoll: " + noEpoll.get());
        }
        EpollSocketChannel probe = new EpollSocketChannel();
        try {
            apply(probe, name);
        } catch (ChannelException e) {
            throw new IllegalArgumentException(
                    "the kernel does not have it, or not for this process" + allowed()
                            + "; choose another one, or have the node's administrator load its module and add it to"
                            + " net.ipv4.tcp_allowed_congestion_control",
                    e);
        } finally {
            probe.unsafe().closeForcibly();
        }
    }

    /** Sets up a connection, which may be open already. A name that {@link #require} has accepted. */
    static void apply(SocketChannel channel, String name) {
        if (!name.equals(AUTOMATIC)) {
            set(channel, name);
        }
    }

    /** Sets up a connection that is open now, and whose peer is known. A name that {@link #require} has accepted. */
    static void applyConnected(SocketChannel channel, String name) {
        if (name.equals(AUTOMATIC)
                && channel instanceof EpollSocketChannel
                && isLocal(channel.localAddress(), channel.remoteAddress())) {
            try {
                set(channel, LOCAL);
            } catch (ChannelException e) {
                // The connection is gone already, or the machine's will do.
                LOG.debug("{} keeps the machine's congestion control: {}", channel, e.toString());
            }
        }
    }

    /** Whether both ends have the same address, or addresses of the loopback interface; unknown ones have not. */
    static boolean isLocal(@Nullable InetSocketAddress local, @Nullable InetSocketAddress remote) {
        return local != null
                && remote != null
                && (remote.getAddress().isLoopbackAddress()
                        || remote.getAddress().equals(local.getAddress()));
    }

    /** Whether that of a connection spreads over time what the connection may send, as those by the name of BBR do. */
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

    /** What the kernel says that every process may use; it says so in the first network namespace only. */
    private static String allowed() {
        try {
            return " (all may use " + Files.readString(ALLOWED, US_ASCII).strip() + ")";
        } catch (IOException e) {
            return "";
        }
    }
}
