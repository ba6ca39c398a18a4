// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.Tools;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Compares docs/api with the contract. */
@ExtendWith(Logs.class)
class ApiReferenceTest {

    @Test
    void referenceIsThatOfTheContract() {
        Tools.need("protoc", "protobuf-compiler");
        Tools.needFile("/usr/include/google/protobuf/duration.proto", "libprotobuf-dev");
        Tools.needFile("/usr/lib/python3/dist-packages/google/protobuf", "python3-protobuf");
        try (OwnedProcess check =
                OwnedProcess.start("api-reference", List.of("tools/api.py", "--check"), Map.of(), Programs.root())) {
            assertThat(check.awaitExit(Patience.LONG_LIMIT)).as(check.text()).isZero();
        }
    }
}
