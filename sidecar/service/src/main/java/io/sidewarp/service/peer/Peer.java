// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Context;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.PeerCredentials;
import java.io.IOException;

/**
 * Process at the other end of an API connection, as the kernel reports it for Unix sockets.
 *
 * @param pid process id in the sidecar's PID namespace; {@link #UNKNOWN} if the transport does not report it; 0 if the
 *     process lives in a namespace that the sidecar cannot see
 * @param uid {@link #UNKNOWN} if the transport does not report it
 * @param gid {@link #UNKNOWN} if the transport does not report it
 */
public record Peer(long pid, long uid, long gid) {

    /** Value of an unknown id, for TCP and for Unix sockets without epoll. */
    public static final long UNKNOWN = -1;

    /** Peer with unknown ids. */
    public static final Peer ANONYMOUS = new Peer(UNKNOWN, UNKNOWN, UNKNOWN);

    /** Peer of the current call. */
    public static final Context.Key<Peer> CONTEXT = Context.keyWithDefault("sidewarp-peer", ANONYMOUS);

    /** Event loop of the current call. */
    public static final Context.Key<EventLoop> LOOP_CONTEXT = Context.key("sidewarp-loop");

    /** Returns the process at the other end of a channel. */
    static Peer of(Channel channel) throws IOException {
        if (!(channel instanceof EpollDomainSocketChannel unix)) {
            return ANONYMOUS;
        }
        PeerCredentials credentials = unix.peerCredentials();
        int[] gids = credentials.gids();
        // Ids are unsigned 32-bit numbers.
        return new Peer(
                credentials.pid(),
                Integer.toUnsignedLong(credentials.uid()),
                gids.length == 0 ? UNKNOWN : Integer.toUnsignedLong(gids[0]));
    }

    /** Returns whether this peer sees objects in sessions of other users: root and the sidecar's own user do. */
    public boolean isPrivileged(long ownUid) {
        return uid == 0 || (uid != UNKNOWN && uid == ownUid);
    }

    /** Returns whether this peer may use an object of another peer: both have the same user id, or both are unknown. */
    public boolean isSameUser(Peer other) {
        return uid == other.uid;
    }
}
