// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.error;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.engine.verbs.DdpError;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.ProtocolError;
import io.sidewarp.engine.verbs.RdmapError;
import io.sidewarp.v1.Retry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the table of errors in docs/errors.md with the code. */
class ErrorTableTest {

    private static final Pattern ROW =
            Pattern.compile("\\| 0x(\\w)/0x(\\w)/0x(\\w\\w) \\| ([^|]+) \\| `([A-Z_]+)` \\| ([a-z ]+) \\|");
    private static final Pattern STATUS = Pattern.compile("\\| `([A-Z_]+)` \\| ([a-z ]+) \\|.*");

    record Row(int layer, int type, int code, String name, String status, String retry) {}

    private static List<String> lines() {
        try {
            return Files.readAllLines(Path.of("../../docs/errors.md"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Row> rows() {
        return lines().stream()
                .map(ROW::matcher)
                .filter(java.util.regex.Matcher::matches)
                .map(row -> new Row(
                        Integer.parseInt(row.group(1), 16),
                        Integer.parseInt(row.group(2), 16),
                        Integer.parseInt(row.group(3), 16),
                        row.group(4).strip(),
                        row.group(5),
                        row.group(6).strip()))
                .toList();
    }

    private static String words(Retry retry) {
        return retry.name()
                .substring("RETRY_".length())
                .toLowerCase(Locale.ROOT)
                .replace('_', ' ');
    }

    @ParameterizedTest
    @MethodSource("rows")
    void documentedErrorHasTheStatusAndTheAdviceOfTheCode(Row row) {
        ErrorTable.Outcome outcome = ErrorTable.of(row.layer, row.type, row.code);

        assertThat(outcome.code().name()).isEqualTo(row.status);
        assertThat(words(outcome.retry())).isEqualTo(row.retry);
    }

    @Test
    void adviceInWordsIsThatOfTheDocumentation() {
        for (Retry retry : List.of(Retry.RETRY_NEVER, Retry.RETRY_AFTER_RECONNECTING, Retry.RETRY_LATER)) {
            assertThat(lines())
                    .anyMatch(line -> line.startsWith("| " + words(retry) + " | " + ErrorTable.advice(retry)));
        }
    }

    @Test
    void everyErrorOfTheRfcsIsDocumentedByItsName() {
        Map<String, String> documented = rows().stream()
                .collect(Collectors.toMap(row -> row.layer + "/" + row.type + "/" + row.code, Row::name));

        Stream.of(RdmapError.values(), DdpError.values(), LlpError.values())
                .flatMap(Arrays::stream)
                .map(ProtocolError.class::cast)
                .forEach(error -> assertThat(documented)
                        .containsEntry(error.layer() + "/" + error.type() + "/" + error.code(), error.description()));
    }

    @Test
    void everyStatusIsDocumentedWithItsAdvice() {
        Map<String, String> documented = lines().stream()
                .map(STATUS::matcher)
                .filter(java.util.regex.Matcher::matches)
                .collect(Collectors.toMap(
                        row -> row.group(1), row -> row.group(2).strip()));

        for (Status.Code code : Status.Code.values()) {
            if (code != Status.Code.OK) {
                assertThat(documented).containsEntry(code.name(), words(ErrorTable.retry(code)));
            }
        }
    }

    @Test
    void missingRightIsNeverUnavailable() {
        assertThat(ErrorTable.of(1, 1, 0).code()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(ErrorTable.of(0, 1, 2).code()).isEqualTo(Status.Code.PERMISSION_DENIED);
    }
}
