// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** Calls C functions and accesses C memory. Pointers are 64-bit numbers. */
final class Native {

    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;

    /** All memory of the process. Gives access to structures at addresses that the libraries return. */
    static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();

    private Native() {}

    /** @throws KernelVerbsUnavailableException when this machine does not have the library */
    static SymbolLookup library(String name) {
        try {
            return SymbolLookup.libraryLookup(name, Arena.global());
        } catch (IllegalArgumentException e) {
            throw new KernelVerbsUnavailableException(
                    "the verbs of the kernel need the library " + name
                            + ", which could not be loaded. Install it (Debian"
                            + " and Ubuntu: apt-get install librdmacm1 ibverbs-providers), or use the provider software",
                    e);
        }
    }

    /** Returns a function that is called rarely, for {@link #call} and {@link #callForPointer}. */
    static MethodHandle function(SymbolLookup library, String name, FunctionDescriptor descriptor) {
        MemorySegment symbol = library.find(name)
                .orElseThrow(() -> new KernelVerbsUnavailableException(
                        "the RDMA libraries of this machine have no function " + name + "; install newer ones", null));
        return LINKER.downcallHandle(symbol, descriptor, Linker.Option.captureCallState("errno"));
    }

    /** Returns a function of the data path, by its address. The function reports errors in its result. */
    static MethodHandle fastFunction(long address, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(MemorySegment.ofAddress(address), descriptor);
    }

    /** @return what the function returns, or the negative error number */
    static int call(MethodHandle function, Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            int result = (int) function.bindTo(state).invokeWithArguments(arguments);
            return result == -1 ? -(int) ERRNO.get(state, 0L) : result;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** @return the pointer, or the negative error number */
    static long callForPointer(MethodHandle function, Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            long pointer = (long) function.bindTo(state).invokeWithArguments(arguments);
            return pointer == 0 ? -Math.max(1, (int) ERRNO.get(state, 0L)) : pointer;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** Calls a function that returns nothing. */
    static void run(MethodHandle function, Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            function.bindTo(arena.allocate(CALL_STATE)).invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    static AssertionError impossible(Throwable e) {
        return new AssertionError("a native call cannot throw", e);
    }

    static int getInt(long address) {
        return MEMORY.get(INT, address);
    }

    static long getLong(long address) {
        return MEMORY.get(LONG, address);
    }

    static int getUnsignedByte(long address) {
        return Byte.toUnsignedInt(MEMORY.get(BYTE, address));
    }

    /** Reads a C string of at most {@code limit} bytes. */
    static String getString(long address, int limit) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < limit && getUnsignedByte(address + i) != 0; i++) {
            text.append((char) getUnsignedByte(address + i));
        }
        return text.toString();
    }
}
