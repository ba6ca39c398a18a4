// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/**
 * Finds the process that listens on a Unix socket. The kernel reports it to a process that connects (SO_PEERCRED of
 * unix(7)). The JDK's own option gives only the user's name.
 */
final class SocketPeer {

    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOL_SOCKET = 1;
    private static final int SO_PEERCRED = 17;

    /** Offset of the path in struct sockaddr_un, behind the family. A zero byte ends the path. */
    private static final int PATH_OFFSET = 2;

    private static final int ADDRESS_LENGTH = PATH_OFFSET + 108;

    /** Bytes of struct ucred: pid, uid, gid. */
    private static final int CREDENTIALS_LENGTH = 12;

    private SocketPeer() {}

    /**
     * Returns the process number of the listener.
     *
     * @param target the value of --api
     * @return 0 when the target is not a Unix socket, or the process is not visible from here
     */
    static long pid(String target) {
        if (!target.startsWith("unix:")) {
            return 0;
        }
        String path = target.substring("unix:".length());
        byte[] octets = (path.startsWith("//") ? path.substring(2) : path).getBytes(StandardCharsets.UTF_8);
        if (octets.length > ADDRESS_LENGTH - PATH_OFFSET - 1) {
            return 0;
        }
        try {
            return ask(octets);
        } catch (Throwable e) {
            // A report without one figure is better than no report.
            return 0;
        }
    }

    private static long ask(byte[] path) throws Throwable {
        MethodHandle socket = function("socket", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
        MethodHandle connect = function("connect", ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
        MethodHandle option = function(
                "getsockopt",
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.ADDRESS);
        MethodHandle close = function("close", ValueLayout.JAVA_INT);
        int descriptor = (int) socket.invokeExact(AF_UNIX, SOCK_STREAM, 0);
        if (descriptor < 0) {
            return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS_LENGTH);
            address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
            MemorySegment.copy(path, 0, address, ValueLayout.JAVA_BYTE, PATH_OFFSET, path.length);
            MemorySegment credentials = arena.allocate(CREDENTIALS_LENGTH, Integer.BYTES);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, CREDENTIALS_LENGTH);
            if ((int) connect.invokeExact(descriptor, address, ADDRESS_LENGTH) != 0
                    || (int) option.invokeExact(descriptor, SOL_SOCKET, SO_PEERCRED, credentials, length) != 0) {
                return 0;
            }
            return credentials.get(ValueLayout.JAVA_INT, 0);
        } finally {
            int ignored = (int) close.invokeExact(descriptor);
        }
    }

    private static MethodHandle function(String name, ValueLayout... parameters) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(ValueLayout.JAVA_INT, parameters));
    }
}
