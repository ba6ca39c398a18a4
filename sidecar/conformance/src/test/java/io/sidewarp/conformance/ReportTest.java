// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private static final String TAGS =
            "<project><dependency><artifactId>sidewarp-conformance</artifactId></dependency></project>";

    @TempDir
    Path root;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @BeforeEach
    void createRepository() throws IOException {
        write(
                "pom.xml",
                "<project><modules><module>a</module><module>deep/b</module><module>c</module></modules></project>");
        write("a/pom.xml", TAGS);
        write("deep/b/pom.xml", TAGS);
        write("c/pom.xml", "<project/>");
        write("docs/conformance.tsv", """
                id\tlevel\trole\trequirement\tcheck
                MPA-1-01\tMUST\tsender\tsends\twire: look
                MPA-1-02\tSHOULD\tsender\tshould send\twire: look
                DDP-1-01\tMUST NOT\tsender\tstops\twire: look
                """);
        write("docs/conformance-delegated.tsv", "id\tto\nMPA-1-02\tthe node\n");
        write("docs/conformance-planned.tsv", "specification\twhy\nDDP\tnot built yet\n");
        write("a/src/test/java/x/ATest.java", "");
        write("deep/b/src/test/java/x/BIT.java", "");
        write("c/src/test/java/x/UntaggedTest.java", "");
        results("a", "unit.tsv", "MPA-1-01\tx.ATest#sends\tpassed\nMPA-1-01\tx.ATest#sometimes\tskipped\n");
        results("deep/b", "integration.tsv", "");
    }

    @Test
    void writesWhatEachRequirementIsProvedBy() throws IOException {
        assertThat(run(false)).isTrue();

        assertThat(report())
                .content()
                .contains("| MPA-1-01 | MUST | proved | `ATest#sends` |\n")
                .contains("| MPA-1-02 | SHOULD | delegated | to the node |\n")
                .contains("| DDP-1-01 | MUST NOT | open | |\n")
                .contains("| RFC 5044 (MPA) | 2 | 1 | 1 | 0 | 0 |\n")
                .contains("| RFC 5041 (DDP) | 1 | 0 | 0 | 1 | 1 |\n")
                .contains("| All | 3 | 1 | 1 | 1 | 1 |\n");
    }

    @Test
    void checkAcceptsTheReportThatWasWritten() throws IOException {
        run(false);

        assertThat(run(true)).isTrue();
    }

    @Test
    void checkLeavesAnotherReportAloneAndNamesTheCommandThatWritesIt() throws IOException {
        write("docs/conformance.md", "old");

        assertThat(run(true)).isTrue();
        assertThat(said()).contains("./sidewarp test");
        assertThat(report()).hasContent("old");
    }

    @Test
    void refusesTagsThatAreNotInTheList() throws IOException {
        results("a", "unit.tsv", "MPA-9-99\tx.ATest#sends\tpassed\n");

        assertThat(run(false)).isFalse();
        assertThat(said()).contains("x.ATest#sends is tagged MPA-9-99");
    }

    @Test
    void refusesARequirementWithoutTestAndDelegate() throws IOException {
        write("docs/conformance-planned.tsv", "specification\twhy\n");

        assertThat(run(false)).isFalse();
        assertThat(said())
                .contains("DDP-1-01 has neither a test nor a delegate")
                .doesNotContain("MPA-1-0");
    }

    @Test
    void aTestThatIsSkippedIsATest() throws IOException {
        results("a", "unit.tsv", "MPA-1-01\tx.ATest#sends\tskipped\n");

        assertThat(run(false)).isTrue();
        assertThat(report()).content().contains("| MPA-1-01 | MUST | open | |\n");
    }

    @Test
    void refusesTagsWhoseTestFailed() throws IOException {
        results("a", "unit.tsv", "MPA-1-01\tx.ATest#sends\tfailed\n");

        assertThat(run(false)).isFalse();
        assertThat(said()).contains("x.ATest#sends failed");
    }

    @Test
    void leavesTheReportAloneWhenResultsAreMissing() throws IOException {
        Files.delete(root.resolve("deep/b/target/conformance/integration.tsv"));

        assertPartial("deep/b: integration tests");
    }

    @Test
    void leavesTheReportAloneWhenResultsAreOfAnEarlierBuild() throws IOException {
        Path file = root.resolve("a/target/conformance/unit.tsv");
        Files.setLastModifiedTime(file, FileTime.from(START.minusSeconds(1)));

        assertPartial("a: unit tests");
    }

    @Test
    void leavesTheReportAloneWhenOnlySelectedTestsRan() throws IOException {
        results("a", "unit.tsv", new Results(true).text());

        assertPartial("a: unit tests");
    }

    private void assertPartial(String missing) throws IOException {
        assertThat(run(false)).isTrue();
        assertThat(said()).contains(missing);
        assertThat(report()).doesNotExist();
        assertThat(root.resolve("e2e-tests/target/conformance.md")).exists();
        assertThat(run(true)).isFalse();
    }

    private boolean run(boolean check) throws IOException {
        return Report.run(root, START, check, new PrintStream(out, true, UTF_8));
    }

    private String said() {
        return out.toString(UTF_8);
    }

    private Path report() {
        return root.resolve("docs/conformance.md");
    }

    private void results(String module, String name, String text) throws IOException {
        write(module + "/target/conformance/" + name, text);
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
