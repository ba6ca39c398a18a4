// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionInfo;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class TopCommandTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private static ConnectionInfo connection(Connection.State state, long writes) {
        return Connections.of(1, "test", state, "", "192.0.2.2", writes, 0);
    }

    @Test
    void connectionThatBeginsToMatchShowsItsRateAndNotItsTotal() {
        TopCommand top = new TopCommand();
        new CommandLine(top).parseArgs("--state", "closing");

        String before = top.text(List.of(connection(Connection.State.ESTABLISHED, 5_000)), 0);
        String after = top.text(List.of(connection(Connection.State.CLOSING, 5_001)), SECOND);

        assertThat(before).contains("0 connections, 0 established", "none of 1 connections matches --state closing");
        assertThat(after).startsWith("1 connections, 0 established; sent 8.00 kbit/s,");
    }
}
