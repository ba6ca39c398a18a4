// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.common.status.StatusDocument.Kind;
import io.sidewarp.common.status.StatusDocument.State;
import io.sidewarp.common.status.StatusDocument.Tone;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class StatusDocumentTest {

    private final StatusDocument document = new StatusDocument("program", Duration.ofSeconds(1));

    @Test
    void factsAndTablesBecomeJson() {
        document.fact("Sessions", Kind.NUMBER, 3)
                .table("Things", "help", "No thing.")
                .column("Thing", Kind.TEXT)
                .column("State", Kind.STATE)
                .row("first", new State("ready", Tone.GOOD));

        assertThat(json())
                .startsWith("{\"title\":\"program\",\"time\":")
                .endsWith("\"period\":1000,\"problem\":\"\","
                        + "\"facts\":[{\"name\":\"Sessions\",\"kind\":\"NUMBER\",\"value\":3}],"
                        + "\"tables\":[{\"heading\":\"Things\",\"help\":\"help\",\"empty\":\"No thing.\","
                        + "\"columns\":[{\"title\":\"Thing\",\"kind\":\"TEXT\"},{\"title\":\"State\",\"kind\":\"STATE\"}],"
                        + "\"rows\":[[\"first\",{\"text\":\"ready\",\"tone\":\"GOOD\"}]],\"left_out\":0}]}");
    }

    @Test
    void anyTextIsEscaped() {
        document.problem("\"\\\n</script>\u2028\ud800");

        assertThat(json()).contains("\"problem\":\"\\\"\\\\\\n</script>\u2028\\ud800\"");
    }

    @Test
    void rowsBeyondTheLimitAreCounted() {
        StatusDocument.Table table = document.table("Things", "", "").column("Thing", Kind.NUMBER);
        for (int i = 0; i < 250; i++) {
            table.row(i);
        }
        table.leftOut(7);

        assertThat(json()).contains("[199]],\"left_out\":57}").doesNotContain("[200]");
    }

    @Test
    void rowHasOneValueForEachColumn() {
        StatusDocument.Table table = document.table("Things", "", "").column("Thing", Kind.NUMBER);

        assertThatThrownBy(() -> table.row(1, 2)).hasMessage("2 values for 1 columns");
    }

    private String json() {
        return new String(document.toJson(), StandardCharsets.UTF_8);
    }
}
