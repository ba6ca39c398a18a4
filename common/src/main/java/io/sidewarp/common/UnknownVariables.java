// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common;

import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Environment variables whose names look like the names of settings but match no setting. The configuration library
 * rejects unknown properties, but silently ignores unknown variables, because other programs may use them.
 */
public final class UnknownVariables {

    private static final String PREFIX = "SIDEWARP_";

    /** Variables of applications, of the {@code sidewarp} script, and of the device plugin. */
    private static final Set<String> OTHERS = Set.of(
            "SIDEWARP_API",
            "SIDEWARP_VOLUME",
            "SIDEWARP_BUILD",
            "SIDEWARP_ROOT",
            "SIDEWARP_SERVICE_JAR",
            "SIDEWARP_RNIC_PROVIDER",
            "SIDEWARP_RNIC_DEVICES");

    /** Suffix of a variable for one element of a list. */
    private static final Pattern INDEX = Pattern.compile("_\\d+_$");

    /**
     * Suffix of the variables by which Kubernetes announces a Service to pods. Their names begin with the name of the
     * Service.
     */
    private static final String SERVICE = "_SERVICE_HOST";

    private static final int LIKE = 3;

    private UnknownVariables() {}

    /**
     * Lists the variables that belong to no setting, each with the most similar setting if there is one. Empty if there
     * are no such variables.
     *
     * @param names names of all environment variables
     * @param prefix prefix of the variables of the settings, such as {@code SIDEWARP_AGENT_}
     * @param settings interfaces that map the settings of this program
     */
    public static Optional<String> in(Set<String> names, String prefix, Class<?>... settings) {
        Set<String> known = variables(prefix, settings);
        Set<String> services = names.stream()
                .filter(name -> name.endsWith(SERVICE))
                .map(name -> name.substring(0, name.length() - SERVICE.length()))
                .collect(Collectors.toSet());
        Predicate<String> ofService = name -> services.stream()
                .anyMatch(service -> name.startsWith(service + "_SERVICE_")
                        || name.equals(service + "_PORT")
                        || name.startsWith(service + "_PORT_"));
        String unknown = names.stream()
                .filter(name -> name.startsWith(PREFIX) && !OTHERS.contains(name))
                .filter(name -> !known.contains(INDEX.matcher(name).replaceFirst("")))
                .filter(ofService.negate())
                .sorted()
                .map(name -> nearest(name, known)
                        .map(setting -> name + " (is it " + setting + "?)")
                        .orElse(name))
                .collect(Collectors.joining(", "));
        return Optional.of(unknown).filter(text -> !text.isEmpty());
    }

    /**
     * Lists the variables of all settings.
     *
     * @param prefix prefix of the variables of the settings, such as {@code SIDEWARP_AGENT_}
     * @param settings interfaces that map the settings
     */
    public static Set<String> variables(String prefix, Class<?>... settings) {
        return Stream.of(settings)
                .flatMap(group -> variablesOf(prefix, group))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Lists the variables of a group of settings and of its nested groups. */
    private static Stream<String> variablesOf(String prefix, Class<?> group) {
        return Stream.of(group.getDeclaredMethods())
                .filter(method -> !method.isSynthetic())
                .flatMap(method -> variablesOf(prefix, method));
    }

    private static Stream<String> variablesOf(String prefix, Method setting) {
        String name = prefix + setting.getName().replaceAll("([A-Z])", "_$1").toUpperCase(Locale.ROOT);
        Class<?> type = setting.getReturnType();
        return type.isInterface()
                        && type.getPackage() == setting.getDeclaringClass().getPackage()
                ? variablesOf(name + "_", type)
                : Stream.of(name);
    }

    private static Optional<String> nearest(String name, Set<String> known) {
        return known.stream()
                .filter(setting -> distance(name, setting) <= LIKE)
                .min(Comparator.comparingInt(setting -> distance(name, setting)));
    }

    /** Counts the characters to insert, delete or change to turn one name into the other (edit distance). */
    private static int distance(String one, String other) {
        if (Math.abs(one.length() - other.length()) > LIKE) {
            return LIKE + 1;
        }
        int[] row = new int[other.length() + 1];
        for (int j = 0; j <= other.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                int changed = one.charAt(i - 1) == other.charAt(j - 1) ? diagonal : diagonal + 1;
                diagonal = row[j];
                row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[other.length()];
    }
}
