// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import io.sidewarp.engine.net.sctp.socket.NativeFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Addresses of usrsctp's AF_CONN sockets. An address is a number that tells the library one peer from another; it is
 * never dereferenced. Each socket has its own address, so that sockets with the same ports do not conflict.
 *
 * <p>An address is registered with the library once and reused by later sockets, the longest free address first.
 * Addresses are not deregistered, because that would start work on a thread of the library.
 */
final class SocketTable {

    private final ArrayDeque<Long> free = new ArrayDeque<>();
    private final List<@Nullable UsrsctpSocket> sockets = new CopyOnWriteArrayList<>();
    private final MemorySegment callState = NativeFunction.newCallState(Arena.ofAuto());

    /** Returns an address that no other socket has. */
    synchronized long acquire() {
        Long known = free.pollFirst();
        if (known != null) {
            return known;
        }
        sockets.add(null);
        UsrsctpCalls.REGISTER.call(callState, sockets.size());
        return sockets.size();
    }

    synchronized void set(long address, UsrsctpSocket socket) {
        sockets.set((int) address - 1, socket);
    }

    /** Notes that the socket is gone. Its address may be reused. */
    synchronized void release(long address) {
        sockets.set((int) address - 1, null);
        free.addLast(address);
    }

    /**
     * Retires an address whose former socket the library still has, for an unknown time. No socket gets this address
     * again.
     */
    synchronized void withdraw(long address) {
        sockets.set((int) address - 1, null);
    }

    @Nullable
    UsrsctpSocket get(long address) {
        return address < 1 || address > sockets.size() ? null : sockets.get((int) address - 1);
    }
}
