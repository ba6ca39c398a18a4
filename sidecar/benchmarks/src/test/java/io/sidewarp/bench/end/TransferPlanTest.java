// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.bench.end.TransferPlan.Operation;
import org.junit.jupiter.api.Test;

class TransferPlanTest {

    private static final TransferPlan PLAN = TransferPlan.stream(Operation.WRITE, 64, 16);

    @Test
    void theDepthIsAMultipleOfTheMessagesForOneCompletion() {
        assertThat(PLAN.withSignal(8).signal()).isEqualTo(8);
        assertThatThrownBy(() -> PLAN.withSignal(5)).hasMessageContaining("no multiple of signal 5");
    }

    @Test
    void anEndReadsTheCommandThatTheBenchWrote() throws Exception {
        ObjectMapper json = new ObjectMapper();
        EndCommand command = EndCommand.connect(PLAN.withMarkers(true).withWaiting(Waiting.YIELD), 7471);

        assertThat(json.readValue(json.writeValueAsString(command), EndCommand.class))
                .isEqualTo(command);
    }
}
