// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.linux;

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
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Functions of a C library, called by name. For calls outside the data path: each call creates objects. Thread-safe.
 *
 * <p>The Java types of the arguments are the C types. An Integer is an int, a Long is a 64-bit number or a pointer, and
 * a Byte is a char. A String is a C string, and a MemorySegment is a pointer to the segment. A function must always be
 * called with the same types.
 */
public final class NativeLibrary {

    /** The C library. */
    public static final NativeLibrary C =
            new NativeLibrary(Linker.nativeLinker().defaultLookup());

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();
    private static final long FAILED = -1;

    private final SymbolLookup symbols;
    private final Map<String, MethodHandle> functions = new ConcurrentHashMap<>();

    public NativeLibrary(SymbolLookup symbols) {
        this.symbols = symbols;
    }

    /** Calls a function that returns an int. Returns this int, or the negative error number for -1. */
    public int call(String name, Object... arguments) {
        return (int) invoke(name, ValueLayout.JAVA_INT, arguments.length, arguments);
    }

    /**
     * Calls a function with variable arguments that returns an int. See {@link #call}.
     *
     * @param fixed number of arguments before the variable ones
     */
    public int callVariadic(String name, int fixed, Object... arguments) {
        return (int) invoke(name, ValueLayout.JAVA_INT, fixed, arguments);
    }

    /** Calls a function that returns a pointer. Returns the pointer, or the negative error number for NULL and -1. */
    public long callForPointer(String name, Object... arguments) {
        return invoke(name, ValueLayout.JAVA_LONG, arguments.length, arguments);
    }

    /** Calls a function that returns nothing. */
    public void run(String name, Object... arguments) {
        invoke(name, null, arguments.length, arguments);
    }

    private long invoke(String name, @Nullable MemoryLayout result, int fixed, Object[] arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            Object[] all = new Object[arguments.length + 1];
            all[0] = state;
            for (int i = 0; i < arguments.length; i++) {
                all[i + 1] = arguments[i] instanceof String text ? arena.allocateFrom(text) : arguments[i];
            }
            // A variadic function takes another number of arguments in another call.
            MethodHandle function =
                    functions.computeIfAbsent(name + "/" + all.length, ignored -> link(name, result, fixed, all));
            return switch ((Object) function.invokeExact(all)) {
                case Integer number when number != FAILED -> number;
                case Long pointer when pointer != FAILED && pointer != 0 -> pointer;
                case null -> 0;
                default -> -Math.max(1, (int) ERRNO.get(state, 0L));
            };
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a native call cannot throw", e);
        }
    }

    /** Returns a handle that takes the memory for the error number and the arguments in one array. */
    private MethodHandle link(String name, @Nullable MemoryLayout result, int fixed, Object[] arguments) {
        MemoryLayout[] types =
                Arrays.stream(arguments).skip(1).map(NativeLibrary::type).toArray(MemoryLayout[]::new);
        MethodHandle function = LINKER.downcallHandle(
                symbols.findOrThrow(name),
                result == null ? FunctionDescriptor.ofVoid(types) : FunctionDescriptor.of(result, types),
                fixed == types.length
                        ? new Linker.Option[] {CAPTURE_ERRNO}
                        : new Linker.Option[] {CAPTURE_ERRNO, Linker.Option.firstVariadicArg(fixed)});
        return function.asType(function.type().generic()).asSpreader(Object[].class, arguments.length);
    }

    private static MemoryLayout type(Object argument) {
        return switch (argument) {
            case Integer ignored -> ValueLayout.JAVA_INT;
            case Long ignored -> ValueLayout.JAVA_LONG;
            case Byte ignored -> ValueLayout.JAVA_BYTE;
            case MemorySegment ignored -> ValueLayout.ADDRESS;
            default -> throw new IllegalArgumentException("no C type for " + argument.getClass());
        };
    }
}
