// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.linux.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** Loads C libraries and accesses C memory. Pointers are 64-bit numbers. */
final class Native {

    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;

    /** All memory of the process. Gives access to structures at addresses that the libraries return. */
    static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private static final Linker LINKER = Linker.nativeLinker();

    private Native() {}

    /**
     * Loads a library for calls outside the data path. A call of a function that the library lacks throws
     * {@link KernelVerbsUnavailableException}.
     *
     * @throws KernelVerbsUnavailableException when this machine does not have the library
     */
    static NativeLibrary library(String name) {
        try {
            SymbolLookup library = SymbolLookup.libraryLookup(name, Arena.global());
            return new NativeLibrary(function -> Optional.of(library.find(function)
                    .orElseThrow(() -> new KernelVerbsUnavailableException(
                            "the RDMA libraries of this machine have no function " + function + "; install newer ones",
                            null))));
        } catch (IllegalArgumentException e) {
            throw new KernelVerbsUnavailableException(
                    "the verbs of the kernel need the library " + name
                            + ", which could not be loaded. Install it (Debian"
                            + " and Ubuntu: apt-get install librdmacm1 ibverbs-providers), or use the provider software",
                    e);
        }
    }

    /** Returns a function of the data path, by its address. The function reports errors in its result. */
    static MethodHandle fastFunction(long address, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(MemorySegment.ofAddress(address), descriptor);
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
