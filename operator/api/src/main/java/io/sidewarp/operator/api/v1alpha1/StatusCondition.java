// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One aspect of a resource's state, in the form of a Kubernetes condition. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StatusCondition(
        @JsonPropertyDescription("Aspect of the state: Ready, Progressing, Degraded or AgentReporting.")
        @Required
        @Pattern("^[A-Z][A-Za-z0-9]*$")
        String type,

        @JsonPropertyDescription("True, False or Unknown.") @Required @Pattern("^(True|False|Unknown)$")
        String status,

        @JsonPropertyDescription("Cause, as one CamelCase word for programs.")
        @Required
        @Size(max = 1024)
        @Pattern("^[A-Z][A-Za-z0-9]*$")
        String reason,

        @JsonPropertyDescription("Cause, as a sentence for people.") @Required @Size(max = StatusCondition.MAX_MESSAGE)
        String message,

        @JsonPropertyDescription("Time of the last change of the status.") @Required
        String lastTransitionTime,

        @JsonPropertyDescription("Generation of the resource from which the condition was derived.") @Nullable
        Long observedGeneration) {

    /** Largest number of characters of a message. */
    static final int MAX_MESSAGE = 32_768;

    private static final String CUT = " ...";

    public static final String READY = "Ready";
    public static final String PROGRESSING = "Progressing";
    public static final String DEGRADED = "Degraded";

    /** Condition of an IwarpNode that the controller writes: whether the node is alive and its agent reports. */
    public static final String AGENT_REPORTING = "AgentReporting";

    /**
     * State of a whole resource.
     *
     * @param type condition that holds
     * @param reason one word in CamelCase, for programs
     * @param message a sentence, for people
     */
    public record State(String type, String reason, String message) {}

    /**
     * Creates a condition. The transition time is now if the status differs from the status of this type in
     * {@code former}. The end of a message that is too long is cut off. Otherwise the API server would refuse the whole
     * status, for instance when the message names all pods of a large node.
     */
    private static StatusCondition of(
            List<StatusCondition> former, String type, boolean holds, State state, @Nullable Long generation) {
        String status = holds ? "True" : "False";
        String since = former.stream()
                .filter(condition ->
                        condition.type().equals(type) && condition.status().equals(status))
                .map(StatusCondition::lastTransitionTime)
                .findFirst()
                .orElseGet(() -> Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        return new StatusCondition(type, status, state.reason(), cut(state.message()), since, generation);
    }

    /**
     * Creates a single condition.
     *
     * @param former present conditions, from which the transition time is taken
     * @param holds whether the condition {@code state.type()} holds
     */
    public static StatusCondition of(List<StatusCondition> former, State state, boolean holds) {
        return of(former, state.type(), holds, state, null);
    }

    private static String cut(String message) {
        if (message.length() <= MAX_MESSAGE) {
            return message;
        }
        int end = MAX_MESSAGE - CUT.length();
        return message.substring(0, Character.isHighSurrogate(message.charAt(end - 1)) ? end - 1 : end) + CUT;
    }

    public boolean holds() {
        return status.equals("True");
    }

    /**
     * Creates the three conditions of a resource. Exactly one condition holds and describes the whole state. The other
     * two do not hold.
     */
    public static List<StatusCondition> of(List<StatusCondition> former, State state, @Nullable Long generation) {
        return Stream.of(READY, PROGRESSING, DEGRADED)
                .map(type -> of(former, type, type.equals(state.type()), state, generation))
                .toList();
    }
}
