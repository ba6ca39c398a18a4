// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {

    @Test
    void writesObjectsInTheirOrder() {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("b", 1L);
        object.put("a", List.of(true, "x", Map.of()));
        object.put("empty", List.of());
        assertThat(Json.write(object)).isEqualTo("{\"b\":1,\"a\":[true,\"x\",{}],\"empty\":[]}");
    }

    @Test
    void escapesWhatStringsMustNotHold() {
        assertThat(Json.write("a\"b\\c\n\t\u0001\u007f")).isEqualTo("\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\"");
    }

    @Test
    void writesSixDigitsAndNoNumbersThatAreNone() {
        assertThat(Json.write(12.3456789)).isEqualTo("12.3457");
        assertThat(Json.write(0.0001234567)).isEqualTo("0.000123457");
        assertThat(Json.write(3.0)).isEqualTo("3");
        assertThat(Json.write(Double.NaN)).isEqualTo("null");
        assertThat(Json.write(Double.POSITIVE_INFINITY)).isEqualTo("null");
    }
}
