// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CommandProgramTest {

    @Test
    void answersWithWhatACommandPrinted() {
        CommandProgram.Reply reply = CommandProgram.carryOut(new String[] {"perf", "--help"});
        assertThat(reply.exitCode()).isZero();
        assertThat(reply.output()).contains("--warmup");
    }

    @Test
    void answersWithTheErrorOfACommandAndGoesOn() {
        CommandProgram.Reply wrong = CommandProgram.carryOut(new String[] {"perf", "--no-such-option"});
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.output()).contains("--no-such-option");
        assertThat(CommandProgram.carryOut(new String[] {"--version"}).exitCode())
                .isZero();
    }
}
