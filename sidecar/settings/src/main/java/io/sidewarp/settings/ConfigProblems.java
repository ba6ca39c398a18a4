// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.settings;

import io.sidewarp.common.FailureText;
import io.smallrye.config.ConfigValidationException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Rewrites error messages of the configuration library so that users can correct settings. Keeps unknown messages. */
public final class ConfigProblems {

    private static final Pattern CODE = Pattern.compile("(?:[\\w.]+Exception: )?SRCFG\\d+: ");
    private static final Pattern WRONG = Pattern.compile(
            "The config property (\\S+) with the config value \"(.*)\" threw an Exception whilst being converted (.*)");
    private static final Pattern NO_CONSTANT =
            Pattern.compile("(\\S+ is .*): Cannot convert .* to enum .*, allowed values: (\\S+)");
    private static final Pattern EMPTY = Pattern.compile("The config property (\\S+) (?:is defined as the empty String|"
            + "with the config value \".*\" was converted to null).*");
    private static final Pattern UNKNOWN = Pattern.compile("(\\S+) in (.*) does not map to any root");

    private ConfigProblems() {}

    /** Describes values of a wrong type, such as letters for a number, and settings that do not exist. */
    public static String of(ConfigValidationException invalid) {
        List<String> problems = new ArrayList<>();
        for (int i = 0; i < invalid.getProblemCount(); i++) {
            problems.add(problem(invalid.getProblem(i).getMessage()));
        }
        return String.join("; ", problems);
    }

    private static String problem(String message) {
        String text = withoutCodes(message.replaceAll("\\s+", " "));
        text = WRONG.matcher(text).replaceFirst("$1 is $2: $3");
        text = NO_CONSTANT.matcher(text).replaceFirst(known -> Matcher.quoteReplacement(allowed(known)));
        text = EMPTY.matcher(text).replaceFirst("$1 is empty: give it a value, or leave it out for the default");
        return UNKNOWN.matcher(text)
                .replaceFirst(unknown -> Matcher.quoteReplacement(unknown.group(1) + " is no setting of the sidecar"
                        + successor(unknown.group(1)) + " (" + unknown.group(2) + ")"));
    }

    /** Names the words of a closed set in the order of the alphabet. The library has no order. */
    private static String allowed(MatchResult known) {
        List<String> words = Arrays.asList(known.group(2).split(","));
        return known.group(1) + "; allowed: " + words.stream().sorted().collect(Collectors.joining(", "));
    }

    /** Describes a configuration file that is unreadable or not in properties format. Empty for other failures. */
    public static Optional<String> unreadable(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        if (!(failure instanceof IllegalArgumentException)
                || !CODE.matcher(message).lookingAt()) {
            return Optional.empty();
        }
        Throwable cause = failure.getCause();
        return Optional.of(withoutCodes(message) + (cause == null ? "" : " (" + told(cause) + ")")
                + "; correct config/application.properties");
    }

    private static String told(Throwable cause) {
        return cause instanceof IOException failure
                ? FailureText.withFile(failure)
                : String.valueOf(cause.getMessage());
    }

    private static String successor(String setting) {
        return RenamedSettings.successor(setting)
                .map(name -> " any more; its name is " + name)
                .orElse("");
    }

    private static String withoutCodes(String message) {
        return CODE.matcher(message).replaceAll("");
    }
}
