// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Processors of each end, set by taskset(1) for peers and Sidewarp alike.
 *
 * @param active list of processors in the notation of taskset, such as {@code 0,2-3}; empty for all
 * @param passive the same for the other end
 */
public record Pinning(String active, String passive) {

    /** Both ends may use all processors. */
    public static final Pinning NONE = new Pinning("", "");

    private static final String PROCESSOR_LIST = "\\d+(-\\d+)?(,\\d+(-\\d+)?)*";

    /**
     * Reads {@code none}, {@code auto} or {@code ACTIVE:PASSIVE}, such as {@code 0:1} or {@code 0-1:2-3}.
     *
     * @throws IllegalArgumentException if the text has another form
     */
    public static Pinning parse(String text) {
        if (text.equals("none")) {
            return NONE;
        }
        if (text.equals("auto")) {
            return automatic(allowedProcessors());
        }
        int colon = text.indexOf(':');
        if (colon < 0
                || !text.substring(0, colon).matches(PROCESSOR_LIST)
                || !text.substring(colon + 1).matches(PROCESSOR_LIST)) {
            throw new IllegalArgumentException("\"" + text
                    + "\" does not say which processors the two ends use: write none, auto, or two lists such as 0:1 or"
                    + " 0-1:2-3");
        }
        return new Pinning(text.substring(0, colon), text.substring(colon + 1));
    }

    /** Returns one processor for each end, or two if there are at least four. Returns none if there is only one. */
    static Pinning automatic(List<Integer> processors) {
        int each = processors.size() >= 4 ? 2 : 1;
        return processors.size() < 2
                ? NONE
                : new Pinning(join(processors.subList(0, each)), join(processors.subList(each, 2 * each)));
    }

    /** Returns the numbers of a list such as {@code 0,2-3}. */
    static List<Integer> numbers(String list) {
        List<Integer> numbers = new ArrayList<>();
        for (String range : list.trim().split(",", -1)) {
            int dash = range.indexOf('-');
            int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
            int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
            for (int number = first; number <= last; number++) {
                numbers.add(number);
            }
        }
        return numbers;
    }

    @Override
    public String toString() {
        return equals(NONE) ? "none" : active + ":" + passive;
    }

    private static String join(List<Integer> processors) {
        return processors.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private static List<Integer> allowedProcessors() {
        String name = "Cpus_allowed_list:";
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith(name))
                    .findFirst()
                    .map(line -> numbers(line.substring(name.length())))
                    .orElse(List.of());
        } catch (IOException e) {
            return List.of();
        }
    }
}
