// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionInfo;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class FiltersTest {

    private static final List<ConnectionInfo> CONNECTIONS = List.of(
            Connections.of(1, "trainer", Connection.State.ESTABLISHED, "", "10.244.1.7", 0, 0),
            Connections.of(2, "trainer-2", Connection.State.CLOSING, "", "10.244.1.70", 0, 0),
            Connections.of(3, "cache", Connection.State.WAITING_FOR_PEER, "", "fd00::7", 0, 0));

    private final Filters.AlsoOfRegions filters = new Filters.AlsoOfRegions();

    private CommandSpec parse(String... arguments) {
        CommandLine line = new CommandLine(CommandSpec.forAnnotatedObject(filters));
        line.parseArgs(arguments);
        return line.getCommandSpec();
    }

    @ParameterizedTest
    @CsvSource({
        "'', 123",
        "--id 2, 2",
        "'--id 1,3', 13",
        "--peer 10.244.1.7, 1",
        "--peer 10.244.1.7:7471, 1",
        "--peer 10.244.1.7*, 12",
        "--peer [fd00::7]:7471, 3",
        "--peer fd00::*, 3",
        "'--state closing,waiting-for-peer', 23",
        "--session trainer, 1",
        "--session trainer*, 12",
        "--session trainer* --state closing, 2",
        "--session .*, ''"
    })
    void connectionsMeetAllConditions(String arguments, String ids) {
        parse(arguments.isEmpty() ? new String[0] : arguments.split(" "));

        String selected = String.join(
                "",
                filters.select(Kind.CONNECTIONS, CONNECTIONS).stream()
                        .map(connection -> String.valueOf(connection.id()))
                        .toList());

        assertThat(selected).isEqualTo(ids == null ? "" : ids);
    }

    @Test
    void aConditionThatDoesNotFitTheKindIsAWrongArgument() {
        CommandSpec spec = parse("--session", "a", "--region", "b");

        filters.check(Kind.REGIONS, spec);
        assertThatThrownBy(() -> filters.check(Kind.CONNECTIONS, spec))
                .isInstanceOf(CommandLine.ParameterException.class)
                .hasMessage("--region does not fit connections; use --id, --peer, --session, --state");
        assertThatThrownBy(() -> filters.check(Kind.DEVICE, spec))
                .hasMessage("--session does not fit device; no filter does");
    }

    @Test
    void nothingThatMatchesIsTold() {
        parse("--peer", "10.1.*,10.2.*", "--state", "closed");

        assertThat(filters.noMatch(Kind.CONNECTIONS, 3))
                .isEqualTo("none of 3 connections matches --peer 10.1.*,10.2.* --state closed\n");
    }
}
