// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.TestPods.decide;
import static io.sidewarp.operator.controller.injection.TestPods.pod;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.controller.injection.InjectionDecision.Refuse;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExcerptTest {

    /** The API server looks at names only after the webhook. */
    @ParameterizedTest
    @ValueSource(
            strings = {"inject: %s", "profile: %s", "containers: %s", "containers: ''", "rnics: %s", "shared-memory: %s"
            })
    void aRefusalIsShortWhateverThePodHas(String annotation) {
        String text = "\"\\x85%d" + "x".repeat(100_000) + '"';
        String containers = IntStream.range(0, 12)
                .mapToObj(number -> "{name: " + text.formatted(number) + "}")
                .collect(Collectors.joining(", "));

        InjectionDecision decision = decide(
                true,
                pod("sidewarp.io/" + annotation.formatted(text.formatted(12)), "containers: [" + containers + "]"),
                Map.of("sidewarp.io/inject", "enabled"));

        assertThat(decision)
                .isInstanceOfSatisfying(
                        Refuse.class,
                        refuse -> assertThat(refuse.message())
                                .contains("xxx ...")
                                .hasSizeLessThan(1_100)
                                .doesNotContain("\u0085"));
    }
}
