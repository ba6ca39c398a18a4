// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.settings;

import io.sidewarp.common.UnknownVariables;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds settings by names that they no longer have. Rarely used settings moved from {@code sidewarp.} to {@code
 * sidewarp.advanced.} with the rest of their names.
 */
public final class RenamedSettings {

    private static final String PREFIX = "SIDEWARP_";
    private static final String ADVANCED = "SIDEWARP_ADVANCED_";
    private static final Set<String> VARIABLES = UnknownVariables.variables(PREFIX, SidewarpConfig.class);

    private RenamedSettings() {}

    /** Returns the present name of a setting, if the setting has moved. */
    public static Optional<String> successor(String setting) {
        String variable = setting.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
        return isRenamed(variable)
                ? Optional.of(setting.replaceFirst("sidewarp\\.", "sidewarp.advanced."))
                : Optional.empty();
    }

    /** Describes environment variables that set a setting by its old name. Empty if there are none. */
    public static Optional<String> in(Set<String> environment) {
        String renamed = environment.stream()
                .filter(RenamedSettings::isRenamed)
                .sorted()
                .map(name -> name + " is now " + advanced(name))
                .collect(Collectors.joining(", "));
        return Optional.of(renamed).filter(text -> !text.isEmpty());
    }

    private static boolean isRenamed(String variable) {
        return variable.startsWith(PREFIX) && !VARIABLES.contains(variable) && VARIABLES.contains(advanced(variable));
    }

    private static String advanced(String variable) {
        return ADVANCED + variable.substring(PREFIX.length());
    }
}
