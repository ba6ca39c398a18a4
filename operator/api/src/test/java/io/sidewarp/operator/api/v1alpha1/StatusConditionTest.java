// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatusConditionTest {
    private static final String LONGEST = "x".repeat(32_768);

    @Test
    void aMessageThatTheApiServerWouldRefuseIsCutOff() {
        assertThat(conditions(LONGEST + "y"))
                .hasSize(3)
                .allSatisfy(condition -> assertThat(condition.message())
                        .hasSize(LONGEST.length())
                        .startsWith("xxx")
                        .endsWith("x ..."));
    }

    @Test
    void aMessageThatTheApiServerTakesIsComplete() {
        assertThat(conditions(LONGEST))
                .allSatisfy(condition -> assertThat(condition.message()).isEqualTo(LONGEST));
    }

    private static List<StatusCondition> conditions(String message) {
        return StatusCondition.of(
                List.of(), new StatusCondition.State(StatusCondition.DEGRADED, "NodesFailed", message), 1L);
    }
}
