// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Attributes;
import io.grpc.Context;
import io.netty.channel.EventLoop;

/**
 * The process at the other end of an API connection, as the kernel tells it for Unix sockets.
 *
 * @param pid in the sidecar's PID namespace, {@link #UNKNOWN} when the transport does not tell; 0 when the process lives
 *     in a namespace that the sidecar cannot see
 * @param uid {@link #UNKNOWN} when the transport does not tell
 * @param gid {@link #UNKNOWN} when the transport does not tell
 */
public record Peer(long pid, long uid, long gid) {

    /** What is not known: TCP, or a Unix socket without epoll. */
    public static final long UNKNOWN = -1;

    /** A peer of which nothing is known. */
    public static final Peer ANONYMOUS = new Peer(UNKNOWN, UNKNOWN, UNKNOWN);

    /** The peer of a transport. */
    public static final Attributes.Key<Peer> ATTRIBUTE = Attributes.Key.create("sidewarp-peer");

    /** The event loop of a transport. */
    public static final Attributes.Key<EventLoop> LOOP_ATTRIBUTE = Attributes.Key.create("sidewarp-loop");

    /** The peer of the call that runs. */
    public static final Context.Key<Peer> CONTEXT = Context.keyWithDefault("sidewarp-peer", ANONYMOUS);

    /** The event loop of the call that runs. */
    public static final Context.Key<EventLoop> LOOP_CONTEXT = Context.key("sidewarp-loop");

    /** Whether it sees what sessions of other users own: root and the sidecar's own user. */
    public boolean isPrivileged(long ownUid) {
        return uid == 0 || (uid != UNKNOWN && uid == ownUid);
    }

    /** Whether it may use what another peer opened: the same user, or neither known. */
    public boolean isSameUser(Peer other) {
        return uid == other.uid;
    }
}
