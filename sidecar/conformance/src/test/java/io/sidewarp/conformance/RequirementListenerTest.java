// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class RequirementListenerTest {
    private static final String SAMPLE = Sample.class.getName();

    @TempDir
    Path directory;

    @Test
    void writesOneLineForEachRequirementAndTest() throws Exception {
        Path file = directory.resolve("deep/unit.tsv");

        run(Sample.class, file);

        assertThat(Files.readAllLines(file))
                .containsExactly(
                        "CLASS-1\t" + SAMPLE + "#aborts\tskipped",
                        "ONE-1\t" + SAMPLE + "#aborts\tskipped",
                        "CLASS-1\t" + SAMPLE + "#failsOnce\tfailed",
                        "THREE-1\t" + SAMPLE + "#failsOnce\tfailed",
                        "CLASS-1\t" + SAMPLE + "#passes\tpassed",
                        "ONE-1\t" + SAMPLE + "#passes\tpassed",
                        "TWO-1\t" + SAMPLE + "#passes\tpassed");
    }

    @Test
    void writesAnEmptyFileForTestsWithoutTags() throws Exception {
        Path file = directory.resolve("unit.tsv");

        run(Untagged.class, file);

        assertThat(file).isEmptyFile();
    }

    @Test
    void aClassThatIsSkippedSkipsItsTests() throws Exception {
        Path file = directory.resolve("unit.tsv");

        run(Impossible.class, file);

        assertThat(Files.readAllLines(file))
                .containsExactly("ONE-1\t" + Impossible.class.getName() + "#isNotReached\tskipped");
    }

    private static void run(Class<?> type, Path file) {
        LauncherConfig config = LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .addTestExecutionListeners(new RequirementListener(file))
                .build();
        LauncherFactory.create(config)
                .execute(LauncherDiscoveryRequestBuilder.request()
                        .selectors(selectClass(type))
                        .build());
    }

    @Requirement("CLASS-1")
    static final class Sample {
        @Test
        @Requirement({"ONE-1", "TWO-1"})
        void passes() {}

        @Test
        @Requirement("ONE-1")
        void aborts() {
            Assumptions.abort();
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 2, 3})
        @Requirement("THREE-1")
        void failsOnce(int i) {
            assertThat(i).isNotEqualTo(2);
        }
    }

    static final class Impossible {
        @BeforeAll
        static void prepare() {
            Assumptions.abort();
        }

        @Test
        @Requirement("ONE-1")
        void isNotReached() {}
    }

    static final class Untagged {
        @Test
        void passes() {}
    }
}
