// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.socket;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.Collections;

/**
 * A C function of numbers and pointers. All arguments are 64-bit numbers, which costs no objects; the C types are those
 * of the descriptor. A call that fails returns the negative error number.
 *
 * <p>Each caller brings the memory of {@link #newCallState}. Functions are constants, so that calls are compiled like
 * those of a constant {@link MethodHandle}.
 *
 * @param handle takes the call state and {@value #ARGUMENTS} numbers; a function with fewer arguments ignores the rest
 */
public record NativeFunction(MethodHandle handle) {

    private static final int ARGUMENTS = 9;
    private static final MethodType TYPE = MethodType.methodType(long.class, MemorySegment.class)
            .appendParameterTypes(Collections.nCopies(ARGUMENTS, long.class));
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();

    /**
     * Finds a function.
     *
     * @param library name of the library for people
     * @throws LinkageError when the library does not have it
     */
    public static NativeFunction find(
            String library, SymbolLookup symbols, String name, FunctionDescriptor descriptor) {
        MemorySegment symbol =
                symbols.find(name).orElseThrow(() -> new LinkageError(library + " has no function " + name));
        MethodHandle function = LINKER.downcallHandle(symbol, descriptor, Linker.Option.captureCallState("errno"));
        int parameters = function.type().parameterCount();
        MethodHandle padded = MethodHandles.dropArguments(
                function, parameters, Collections.nCopies(TYPE.parameterCount() - parameters, long.class));
        return new NativeFunction(MethodHandles.explicitCastArguments(padded, TYPE));
    }

    /** Allocates memory for the error number of the calls of one thread at a time. */
    public static MemorySegment newCallState(Arena arena) {
        return arena.allocate(CALL_STATE);
    }

    private static int error(MemorySegment state) {
        return -Math.max(1, (int) ERRNO.get(state, 0L));
    }

    public int call(MemorySegment state, long first) {
        return call(state, first, 0);
    }

    public int call(MemorySegment state, long first, long second) {
        return call(state, first, second, 0);
    }

    public int call(MemorySegment state, long first, long second, long third) {
        return call(state, first, second, third, 0);
    }

    public int call(MemorySegment state, long first, long second, long third, long fourth) {
        return call(state, first, second, third, fourth, 0);
    }

    public int call(MemorySegment state, long first, long second, long third, long fourth, long fifth) {
        return call(state, first, second, third, fourth, fifth, 0, 0, 0, 0);
    }

    public int call(
            MemorySegment state,
            long first,
            long second,
            long third,
            long fourth,
            long fifth,
            long sixth,
            long seventh,
            long eighth,
            long ninth) {
        try {
            int result = (int) (long)
                    handle.invokeExact(state, first, second, third, fourth, fifth, sixth, seventh, eighth, ninth);
            return result < 0 ? error(state) : result;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** Calls a function that returns a pointer, or null when it fails. */
    public long callForPointer(MemorySegment state, long first, long second, long third) {
        try {
            long pointer = (long) handle.invokeExact(state, first, second, third, 0L, 0L, 0L, 0L, 0L, 0L);
            return pointer == 0 ? error(state) : pointer;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    private static AssertionError impossible(Throwable e) {
        return new AssertionError("a native call cannot throw", e);
    }
}
