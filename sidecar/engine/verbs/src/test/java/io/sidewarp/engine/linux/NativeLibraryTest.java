// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.linux;

import static io.sidewarp.engine.linux.NativeLibrary.C;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

class NativeLibraryTest {

    @Test
    void callReturnsTheResultOfTheFunction() {
        assertThat(C.call("getpid")).isEqualTo((int) ProcessHandle.current().pid());
    }

    @Test
    void failedCallReturnsTheNegativeErrorNumber() {
        assertThat(C.call("close", -1)).isEqualTo(-9);
        assertThat(C.call("chdir", "/no/such/directory")).isEqualTo(-LinuxErrno.ENOENT);
    }

    @Test
    void variableArgumentsArePassed() {
        int opened = C.callVariadic("open", 2, "/dev/null", 0, 0);

        assertThat(opened).isNotNegative();
        assertThat(C.call("close", opened)).isZero();
    }

    @Test
    void numberOfVariableArgumentsMayChange() {
        int first = C.callVariadic("open", 2, "/dev/null", 0, 0);
        int second = C.callVariadic("open", 2, "/dev/null", 0);

        assertThat(second).isNotNegative();
        assertThat(C.call("close", first)).isZero();
        assertThat(C.call("close", second)).isZero();
    }

    @Test
    void memoryIsPassedByItsAddress() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ends = arena.allocate(ValueLayout.JAVA_INT, 2);

            assertThat(C.call("pipe", ends)).isZero();
            assertThat(C.call("close", ends.getAtIndex(ValueLayout.JAVA_INT, 0)))
                    .isZero();
            assertThat(C.call("close", ends.getAtIndex(ValueLayout.JAVA_INT, 1)))
                    .isZero();
        }
    }

    @Test
    void pointersAreReturnedAndTakenBack() {
        long memory = C.callForPointer("malloc", 16L);

        assertThat(memory).isPositive();
        C.run("free", memory);
    }

    @Test
    void failedCallForAPointerReturnsTheNegativeErrorNumber() {
        assertThat(C.callForPointer("mmap", 0L, 0L, 0, 0x22, -1, 0L)).isEqualTo(-LinuxErrno.EINVAL);
        assertThat(C.callForPointer("opendir", "/no/such/directory")).isEqualTo(-LinuxErrno.ENOENT);
    }

    @Test
    void missingFunctionIsNamed() {
        assertThatThrownBy(() -> C.call("no_such_function"))
                .isInstanceOf(NoSuchElementException.class)
                .hasMessageContaining("no_such_function");
    }
}
