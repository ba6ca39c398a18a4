// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import io.sidewarp.cli.Failure;
import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The terminal of this process, for text that is drawn repeatedly. Keys arrive without Enter and without echo. Closing
 * restores the screen and the settings. Calls the C library, because containers may have no {@code stty}.
 */
public final class Terminal implements AutoCloseable {

    private static final int STANDARD_INPUT = 0;
    private static final int STANDARD_OUTPUT = 1;

    /** Linux' struct termios: four words of flags, the discipline, control characters, two speeds. */
    private static final int TERMIOS_LENGTH = 60;

    private static final int LOCAL_FLAGS_OFFSET = 12;
    private static final int CHARACTERS_OFFSET = 17;
    private static final int ICANON = 2;
    private static final int ECHO = 8;
    private static final int VTIME = 5;
    private static final int VMIN = 6;
    private static final int VSUSP = 10;
    private static final int TCSADRAIN = 1;

    /** Linux' struct winsize: four 16-bit numbers, the first two are lines and columns. */
    private static final long TIOCGWINSZ = 0x5413;

    private static final int WINSIZE_LENGTH = 8;

    private static final String BEGIN = "\033[?1049h\033[?25l";
    private static final String END = "\033[?25h\033[?1049l";
    private static final String HOME = "\033[H";
    private static final String ERASE_LINE_END = "\033[K";
    private static final String ERASE_BELOW = "\033[J";

    private final Arena arena = Arena.ofShared();
    private final MemorySegment settings = arena.allocate(TERMIOS_LENGTH, Integer.BYTES);
    private final MemorySegment size = arena.allocate(WINSIZE_LENGTH, Short.BYTES);
    private final MethodHandle windowSize;
    private final PrintWriter out;
    private final CountDownLatch quit = new CountDownLatch(1);

    /**
     * Size of the window.
     *
     * @param columns characters of a line
     * @param lines number of lines
     */
    public record Size(int columns, int lines) {

        /** Returns as much of a text as fits. The last line tells how many lines do not fit. */
        List<String> fit(List<String> text) {
            List<String> fitting = text;
            if (text.size() > lines) {
                int left = text.size() - lines + 1;
                fitting = new ArrayList<>(text.subList(0, lines - 1));
                fitting.add("(" + left + " more lines)");
            }
            return fitting.stream()
                    .map(line -> line.substring(0, Math.min(line.length(), columns)))
                    .toList();
        }
    }

    private Terminal(PrintWriter out) throws Throwable {
        this.out = out;
        windowSize = Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().findOrThrow("ioctl"),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS),
                        Linker.Option.firstVariadicArg(2));
        MethodHandle get = function("tcgetattr", ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
        if ((int) get.invokeExact(STANDARD_INPUT, settings) != 0) {
            throw new IOException("standard input is no terminal");
        }
        MemorySegment raw = arena.allocate(TERMIOS_LENGTH, Integer.BYTES).copyFrom(settings);
        int flags = raw.get(ValueLayout.JAVA_INT, LOCAL_FLAGS_OFFSET);
        raw.set(ValueLayout.JAVA_INT, LOCAL_FLAGS_OFFSET, flags & ~(ICANON | ECHO));
        raw.set(ValueLayout.JAVA_BYTE, CHARACTERS_OFFSET + VMIN, (byte) 1);
        raw.set(ValueLayout.JAVA_BYTE, CHARACTERS_OFFSET + VTIME, (byte) 0);
        // A stopped process would leave its screen to the shell.
        raw.set(ValueLayout.JAVA_BYTE, CHARACTERS_OFFSET + VSUSP, (byte) 0);
        change(raw);
        out.print(BEGIN);
        out.flush();
        Thread.ofPlatform().daemon().name("sidewarp-keys").start(this::readKeys);
    }

    /** Returns whether standard input and output are a terminal that can move its cursor. */
    // The JDK still documents null as possible.
    @SuppressWarnings("SystemConsoleNull")
    public static boolean isPresent() {
        String type = System.getenv("TERM");
        Console console = System.console();
        return type != null && !type.equals("dumb") && console != null && console.isTerminal();
    }

    /**
     * Takes the terminal.
     *
     * @param out standard output
     */
    public static Terminal open(PrintWriter out) throws IOException {
        try {
            return new Terminal(out);
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException("the terminal cannot be set up: " + e.getMessage(), e);
        }
    }

    /** Replaces the text on the screen. */
    public void draw(List<String> text) {
        out.print(size().fit(text).stream()
                .collect(Collectors.joining(ERASE_LINE_END + "\n", HOME, ERASE_LINE_END + ERASE_BELOW)));
        out.flush();
    }

    /**
     * Waits for some time, or until the user presses q.
     *
     * @return false when the user wants to quit
     * @throws Failure when the process was told to stop
     */
    public boolean pause(Duration time) {
        try {
            return !quit.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        }
    }

    @Override
    public void close() {
        out.print(END);
        out.flush();
        try {
            change(settings);
        } catch (Throwable e) {
            // The terminal is gone.
        }
    }

    private Size size() {
        try {
            int failed = (int) windowSize.invokeExact(STANDARD_OUTPUT, TIOCGWINSZ, size);
            int lines = Short.toUnsignedInt(size.get(ValueLayout.JAVA_SHORT, 0));
            int columns = Short.toUnsignedInt(size.get(ValueLayout.JAVA_SHORT, Short.BYTES));
            if (failed == 0 && lines > 0 && columns > 0) {
                // The last column stays empty, because the end of a full line would be erased with the rest of it.
                return new Size(columns - 1, lines);
            }
        } catch (Throwable e) {
            // The usual size is the best guess.
        }
        return new Size(80, 24);
    }

    private void readKeys() {
        InputStream keys = System.in;
        try {
            int key = keys.read();
            while (key >= 0 && key != 'q' && key != 'Q') {
                key = keys.read();
            }
        } catch (IOException e) {
            // No more keys will come.
        }
        quit.countDown();
    }

    private static void change(MemorySegment settings) throws Throwable {
        MethodHandle set = function("tcsetattr", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
        if ((int) set.invokeExact(STANDARD_INPUT, TCSADRAIN, settings) != 0) {
            throw new IOException("the settings of the terminal cannot be changed");
        }
    }

    private static MethodHandle function(String name, MemoryLayout... parameters) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(ValueLayout.JAVA_INT, parameters));
    }
}
