// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Conditions that objects must meet to be shown. An object must meet all; of several values, one is enough. */
class Filters {

    @Option(
            names = "--id",
            paramLabel = "ID",
            split = ",",
            description = "Only these numbers in the column ID: of connections, associations or regions.")
    private List<String> ids = new ArrayList<>();

    @Option(
            names = "--peer",
            paramLabel = "ADDRESS[:PORT]",
            split = ",",
            description = "Only connections or associations with this peer. * stands for any text, as in 10.244.*")
    private List<String> peers = new ArrayList<>();

    @Option(
            names = "--state",
            paramLabel = "STATE",
            split = ",",
            description = "Only connections or regions in this state, as the column STATE has it.")
    private List<String> states = new ArrayList<>();

    @Option(
            names = "--session",
            paramLabel = "NAME",
            split = ",",
            description = "Only sessions of this name, and their connections and regions. * stands for any text.")
    private List<String> sessions = new ArrayList<>();

    /** Returns the objects that meet the conditions. */
    final <T> List<T> select(Kind<T> kind, List<T> objects) {
        return objects.stream().filter(object -> matches(kind, object)).toList();
    }

    /** @throws ParameterException when objects of this kind do not have a property that a condition is about */
    final void check(Kind<?> kind, CommandSpec spec) {
        given().keySet().stream()
                .filter(option -> !kind.properties().containsKey(option))
                .findFirst()
                .ifPresent(option -> {
                    String fitting = kind.properties().isEmpty()
                            ? "no filter does"
                            : "use "
                                    + String.join(
                                            ", ",
                                            new TreeSet<>(kind.properties().keySet()));
                    throw new ParameterException(
                            spec.commandLine(), option + " does not fit " + kind.name() + "; " + fitting);
                });
    }

    /** Returns a line for people when objects exist, but none of them meets the conditions. */
    final String noMatch(Kind<?> kind, int objects) {
        return "none of " + objects + " " + kind.name() + " matches " + this + "\n";
    }

    @Override
    public final String toString() {
        return given().entrySet().stream()
                .map(option -> option.getKey() + " " + String.join(",", option.getValue()))
                .collect(Collectors.joining(" "));
    }

    /** Returns whether an object meets the conditions. */
    final <T> boolean matches(Kind<T> kind, T object) {
        return given().entrySet().stream().allMatch(option -> {
            List<String> values = kind.properties()
                    .getOrDefault(option.getKey(), _ -> List.of())
                    .apply(object);
            return option.getValue().stream()
                    .map(Filters::pattern)
                    .anyMatch(pattern -> values.stream()
                            .anyMatch(value -> pattern.matcher(value).matches()));
        });
    }

    /** Returns the values by the names of their options. */
    Map<String, List<String>> given() {
        Map<String, List<String>> given = new LinkedHashMap<>();
        given.put("--id", ids);
        given.put("--peer", peers);
        given.put("--state", states);
        given.put("--session", sessions);
        given.values().removeIf(List::isEmpty);
        return given;
    }

    private static Pattern pattern(String glob) {
        return Pattern.compile(
                Stream.of(glob.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*")), Pattern.DOTALL);
    }

    /** The filters of regions too. */
    static final class AlsoOfRegions extends Filters {

        @Option(
                names = "--region",
                paramLabel = "NAME",
                split = ",",
                description = "Only regions of this name, as the column BACKING has it. * stands for any text.")
        private List<String> regions = new ArrayList<>();

        @Override
        Map<String, List<String>> given() {
            Map<String, List<String>> given = super.given();
            if (!regions.isEmpty()) {
                given.put("--region", regions);
            }
            return given;
        }
    }
}
