// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.config;

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
 * Variables of the environment whose names look like those of settings and are not. The library for configurations refuses
 * such properties, and leaves such variables out without a word, for others may use them.
 */
public final class UnknownVariables {

    private static final String PREFIX = "SIDEWARP_";

    /** Those of applications, of the script, and of the device plugin. */
    private static final Set<String> OTHERS = Set.of(
            "SIDEWARP_API",
            "SIDEWARP_VOLUME",
            "SIDEWARP_BUILD",
            "SIDEWARP_ROOT",
            "SIDEWARP_SERVICE_JAR",
            "SIDEWARP_RNIC_PROVIDER",
            "SIDEWARP_RNIC_DEVICES");

    /** An element of a list. */
    private static final Pattern INDEX = Pattern.compile("_\\d+_$");

    /** Kubernetes tells pods of each Service by variables that begin with its name. */
    private static final String SERVICE = "_SERVICE_HOST";

    private static final int LIKE = 3;

    private UnknownVariables() {}

    /**
     * The variables that no setting knows, each with the setting that it may mean; empty when there are none.
     *
     * @param names all variables of the environment
     * @param prefix of the variables of the settings, such as {@code SIDEWARP_AGENT_}
     * @param settings what maps the settings of this program
     */
    public static Optional<String> in(Set<String> names, String prefix, Class<?>... settings) {
        Set<String> known = Stream.of(settings)
                .flatMap(group -> variables(prefix, group))
                .collect(Collectors.toCollection(TreeSet::new));
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

    /** The variables of a group of settings, and of the groups in it. */
    private static Stream<String> variables(String prefix, Class<?> group) {
        return Stream.of(group.getDeclaredMethods())
                .filter(method -> !method.isSynthetic())
                .flatMap(method -> variables(prefix, method));
    }

    private static Stream<String> variables(String prefix, Method setting) {
        String name = prefix + setting.getName().replaceAll("([A-Z])", "_$1").toUpperCase(Locale.ROOT);
        Class<?> type = setting.getReturnType();
        return type.isInterface()
                        && type.getNestHost() == setting.getDeclaringClass().getNestHost()
                ? variables(name + "_", type)
                : Stream.of(name);
    }

    private static Optional<String> nearest(String name, Set<String> known) {
        return known.stream()
                .filter(setting -> distance(name, setting) <= LIKE)
                .min(Comparator.comparingInt(setting -> distance(name, setting)));
    }

    /** How many characters have to be put in, taken out or changed to make one of the other. */
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
