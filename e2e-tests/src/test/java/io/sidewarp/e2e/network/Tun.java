// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.network;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/** Linux TUN devices: packets of a network interface as bytes of a file. */
final class Tun {

    private static final int O_RDWR = 2;
    private static final int O_NONBLOCK = 0x800;
    private static final int O_CLOEXEC = 0x80000;
    private static final int TUNSETIFF = 0x400454ca;
    private static final short IFF_TUN_NO_PI = 0x1001;
    private static final int IFREQ_OCTETS = 40;
    private static final int IFREQ_FLAGS = 16;
    private static final short POLLIN = 1;
    private static final int POLLFD_OCTETS = 8;

    private static final MethodHandle OPEN = variadic("open", ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
    private static final MethodHandle IOCTL =
            variadic("ioctl", ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS);
    private static final MethodHandle CLOSE = function(ValueLayout.JAVA_INT, "close", ValueLayout.JAVA_INT);
    private static final MethodHandle READ =
            function(ValueLayout.JAVA_LONG, "read", ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG);
    private static final MethodHandle WRITE =
            function(ValueLayout.JAVA_LONG, "write", ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG);
    private static final MethodHandle POLL =
            function(ValueLayout.JAVA_INT, "poll", ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT);

    private Tun() {}

    private static MethodHandle function(ValueLayout result, String name, ValueLayout... arguments) {
        return Linker.nativeLinker().downcallHandle(symbol(name), FunctionDescriptor.of(result, arguments));
    }

    private static MethodHandle variadic(String name, ValueLayout... arguments) {
        return Linker.nativeLinker()
                .downcallHandle(
                        symbol(name),
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments),
                        Linker.Option.firstVariadicArg(2));
    }

    private static MemorySegment symbol(String name) {
        SymbolLookup libc = Linker.nativeLinker().defaultLookup();
        return libc.find(name).orElseThrow();
    }

    /** Makes an interface with this name; it is gone when the file is closed. */
    static int open(String name) {
        try (Arena arena = Arena.ofConfined()) {
            int file = (int) OPEN.invokeExact(arena.allocateFrom("/dev/net/tun"), O_RDWR | O_NONBLOCK | O_CLOEXEC);
            if (file < 0) {
                throw new IllegalStateException("cannot open /dev/net/tun; it takes root and the module tun");
            }
            MemorySegment request = arena.allocate(IFREQ_OCTETS);
            request.setString(0, name, StandardCharsets.US_ASCII);
            request.set(ValueLayout.JAVA_SHORT, IFREQ_FLAGS, IFF_TUN_NO_PI);
            int result = (int) IOCTL.invokeExact(file, (long) TUNSETIFF, request);
            if (result < 0) {
                close(file);
                throw new IllegalStateException("cannot make the TUN device " + name + "; it takes CAP_NET_ADMIN");
            }
            return file;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    static void close(int file) {
        try {
            int ignored = (int) CLOSE.invokeExact(file);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** The next packet's octets, or -1 when there is none. */
    static int read(int file, MemorySegment buffer) {
        try {
            return (int) (long) READ.invokeExact(file, buffer, buffer.byteSize());
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    static void write(int file, MemorySegment packet) {
        try {
            long ignored = (long) WRITE.invokeExact(file, packet, packet.byteSize());
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until one of two files has a packet, at most so long. */
    static void await(int left, int right, int millis, MemorySegment scratch) {
        setPoll(scratch, 0, left);
        setPoll(scratch, POLLFD_OCTETS, right);
        try {
            int ignored = (int) POLL.invokeExact(scratch, 2L, millis);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static void setPoll(MemorySegment scratch, int offset, int file) {
        scratch.set(ValueLayout.JAVA_INT, offset, file);
        scratch.set(ValueLayout.JAVA_SHORT, offset + 4, POLLIN);
        scratch.set(ValueLayout.JAVA_SHORT, offset + 6, (short) 0);
    }
}
