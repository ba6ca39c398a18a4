// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of usrsctp's AF_CONN sockets. Such an address is a number that tells the library one peer from another; it
 * is never followed. Each socket has one to itself, so that sockets with the same ports do not meet. An address is
 * registered with the library once and used again by later sockets, the one that was free for longest first: to withdraw
 * one would start work on a thread of the library's own.
 */
final class SocketTable {

    private static final int INITIAL_CAPACITY = 64;

    private final ArrayDeque<Long> free = new ArrayDeque<>();
    private volatile AtomicReferenceArray<@Nullable UsrsctpSocket> sockets =
            new AtomicReferenceArray<>(INITIAL_CAPACITY);
    private int registered;

    /** An address that no other socket has. */
    synchronized long acquire() {
        Long known = free.pollFirst();
        if (known != null) {
            return known;
        }
        AtomicReferenceArray<@Nullable UsrsctpSocket> old = sockets;
        if (registered == old.length()) {
            AtomicReferenceArray<@Nullable UsrsctpSocket> larger = new AtomicReferenceArray<>(2 * registered);
            for (int i = 0; i < registered; i++) {
                larger.set(i, old.get(i));
            }
            sockets = larger;
        }
        UsrsctpCalls.registerAddress(registered + 1);
        registered++;
        return registered;
    }

    synchronized void set(long address, UsrsctpSocket socket) {
        sockets.set((int) address - 1, socket);
    }

    /** The socket is gone; its address may be used again. */
    synchronized void release(long address) {
        sockets.set((int) address - 1, null);
        free.addLast(address);
    }

    /** The library still has a former socket of that address, for who knows how long: nobody gets it again. */
    synchronized void withdraw(long address) {
        sockets.set((int) address - 1, null);
    }

    @Nullable
    UsrsctpSocket get(long address) {
        AtomicReferenceArray<@Nullable UsrsctpSocket> current = sockets;
        return address < 1 || address > current.length() ? null : current.get((int) address - 1);
    }
}
