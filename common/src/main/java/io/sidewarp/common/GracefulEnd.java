// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Makes SIGTERM end the process without failure. Kubernetes ends each container with SIGTERM and treats any exit code
 * but 0 as an error. The JVM alone would exit with 143.
 */
public final class GracefulEnd {

    private GracefulEnd() {}

    /**
     * Makes SIGTERM end the process with exit code 0 after its shutdown hooks. An exit that has begun already keeps its
     * own code.
     *
     * @throws IllegalStateException if the Java runtime lacks the module jdk.unsupported
     */
    public static void onTermination() {
        try {
            // Reflection is necessary: javac warns about sun.misc.Signal even if warnings are suppressed, and the JDK
            // has no alternative.
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            MethodHandle exit = MethodHandles.lookup()
                    .findStatic(System.class, "exit", MethodType.methodType(void.class, int.class));
            MethodHandle withoutFailure =
                    MethodHandles.dropArguments(MethodHandles.insertArguments(exit, 0, 0), 0, signal);
            signal.getMethod("handle", signal, handler)
                    .invoke(
                            null,
                            signal.getConstructor(String.class).newInstance("TERM"),
                            MethodHandleProxies.asInterfaceInstance(handler, withoutFailure));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot handle SIGTERM: add the module jdk.unsupported to this Java", e);
        }
    }
}
