// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.sctp.SctpPacketOutput;
import io.sidewarp.engine.net.sctp.SctpProtocol;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.SctpSocket;
import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.net.sctp.socket.NativeFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** usrsctp without its threads and sockets: packets enter by calls and leave by upcalls. */
public final class Usrsctp implements SctpProtocol {

    private static final Logger LOG = LoggerFactory.getLogger(Usrsctp.class);
    static final String LIBRARY = "libusrsctp.so.2";
    private static final int ENOBUFS = 105;
    /** The whole memory of the process, to copy packets from addresses of the library. */
    private static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private static final SocketTable SOCKETS = new SocketTable();
    private static final Usrsctp INSTANCE = new Usrsctp();

    private final ReentrantLock ticking = new ReentrantLock();
    private final MemorySegment callState = NativeFunction.newCallState(Arena.global());
    private long lastTickNanos = System.nanoTime();

    private Usrsctp() {}

    /**
     * Returns the library.
     *
     * @throws SctpUnavailableException when this machine does not have it
     */
    public static Usrsctp load() {
        find(LIBRARY);
        return INSTANCE;
    }

    static SymbolLookup find(String library) {
        try {
            return SymbolLookup.libraryLookup(library, Arena.global());
        } catch (IllegalArgumentException e) {
            throw new SctpUnavailableException(
                    "SCTP needs the library " + library + ", which could not be loaded. Install it (Debian and Ubuntu:"
                            + " apt-get install libusrsctp2) or use TCP.",
                    e);
        }
    }

    @Override
    public SctpSocket open(
            int localPort, int packetSize, OptionalInt adaptation, SctpSettings settings, SctpPacketOutput output) {
        // The time without sockets, when nobody ticks, must not count for the timers of the new socket.
        tick();
        return UsrsctpSocket.open(SOCKETS, localPort, packetSize, adaptation, settings, output);
    }

    @Override
    public void tick() {
        // A thread that comes while another thread runs the timers has nothing to do.
        if (ticking.tryLock()) {
            try {
                long elapsed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lastTickNanos);
                if (elapsed >= TICK_MILLIS) {
                    lastTickNanos += TimeUnit.MILLISECONDS.toNanos(elapsed);
                    UsrsctpCalls.TIMERS.call(callState, Math.min(elapsed, Integer.MAX_VALUE));
                }
            } finally {
                ticking.unlock();
            }
        }
    }

    /** Handles an upcall of the library, on any thread that called the library. No exception may escape. */
    @SuppressWarnings("unused") // found by name; the library passes more than is wanted
    static int onPacket(long address, long packet, long length, byte typeOfService, byte dontFragment) {
        try {
            UsrsctpSocket socket = SOCKETS.get(address);
            if (socket == null) {
                return 0;
            }
            SctpPacketOutput output = socket.output();
            WireBuffer buffer = output.acquirePacket((int) length);
            if (buffer == null) {
                return ENOBUFS;
            }
            MemorySegment.copy(MEMORY, packet, buffer.segment(), 0, length);
            output.onPacket(buffer, (int) length);
            return 0;
        } catch (Throwable e) {
            LOG.error("an SCTP packet was lost on this side", e);
            return ENOBUFS;
        }
    }
}
