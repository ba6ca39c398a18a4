// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static io.sidewarp.e2e.support.VerbsLibrary.finish;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.Tools;
import io.sidewarp.e2e.support.VerbsLibrary;
import io.sidewarp.e2e.support.VerbsSidecars;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the verbs library with programs that have both ends in one process, or none: its own tests and queries. */
@ExtendWith(Logs.class)
class VerbsLibraryIT {

    /** Debian's, whatever is on the PATH: it has the modules of Debian's packages. */
    private static final String PYTHON = "/usr/bin/python3";

    private static VerbsSidecars sidecars;

    @BeforeAll
    static void start() {
        sidecars = VerbsSidecars.start();
    }

    @AfterAll
    static void stop() {
        // The sidecars are missing where a tool is.
        if (sidecars != null) {
            sidecars.close();
        }
    }

    @AfterEach
    void nothingIsLeft() {
        sidecars.endPrograms();
    }

    /**
     * Tests of clients/verbs/tests, which use the library's own functions with both ends in one process. Lines on
     * standard error explain the refusals that they expect.
     */
    @ParameterizedTest
    @CsvSource({
        "verbs, iWARP has reliable connections, Map it writable, nothing is mapped, A queue pair wants 1000000 sends",
        "cm, is in use, iWARP has no datagrams, is in use, is in use"
    })
    void ownTestsPass(String name, String first, String second, String third, String fourth) {
        Path program = VerbsLibrary.path().resolveSibling("test-" + name);
        Path source = Programs.root().resolve("clients/verbs/tests/" + name + ".c");
        finish(OwnedProcess.start(
                "gcc",
                List.of(
                        "gcc",
                        "-O1",
                        "-pthread",
                        "-o",
                        program.toString(),
                        source.toString(),
                        "-libverbs",
                        "-lrdmacm")));
        assertThat(finish(start(program.toString()))).contains(first, second, third, fourth);
    }

    @Test
    void symbolsOfInstalledProgramsAreDefined() {
        Tools.need("readelf", "binutils");
        finish(OwnedProcess.start(
                "check-symbols",
                List.of(
                        Programs.root().resolve("clients/verbs/check-symbols").toString(),
                        VerbsLibrary.path().toString())));
    }

    @Test
    void devicesAreListed() {
        Tools.need("ibv_devinfo", "ibverbs-utils");
        assertThat(finish(start("ibv_devices"))).contains("sidewarp0");
        assertThat(finish(start("ibv_devinfo", "-v")))
                .contains("sidewarp0", "iWARP", "PORT_ACTIVE")
                .contains("max_qp:");
    }

    @Test
    void pyverbsQueriesTheDevice() {
        Tools.needFile("/usr/lib/python3/dist-packages/pyverbs", "python3-pyverbs");
        String program = """
                import pyverbs.device as device, pyverbs.enums as e
                from pyverbs.pd import PD
                from pyverbs.mr import MR
                from pyverbs.cq import CQ, CompChannel
                names = [d.name.decode() for d in device.get_device_list()]
                with device.Context(name=names[0]) as context:
                    attributes = context.query_device()
                    print(names, attributes.max_qp > 0, context.query_port(1).state == e.IBV_PORT_ACTIVE)
                    with PD(context) as domain, MR(domain, 4096, e.IBV_ACCESS_LOCAL_WRITE) as region:
                        region.write(b"hello", 5)
                        print(region.read(5, 0), region.lkey != 0)
                    with CompChannel(context) as channel, CQ(context, 16, channel=channel) as queue:
                        print(queue.poll())
                """;
        assertThat(finish(start(PYTHON, "-c", program)))
                .contains("['sidewarp0'] True True", "b'hello' True", "(0, [])");
    }

    @Test
    void missingSidecarIsExplained() {
        Tools.need("ibv_devinfo", "ibverbs-utils");
        List<String> command = new ArrayList<>(List.of("env", "LD_PRELOAD=" + VerbsLibrary.path()));
        command.addAll(List.of("SIDEWARP_API=unix:///nowhere/api.sock", "ibv_devinfo"));
        OwnedProcess program = OwnedProcess.start("ibv_devinfo", command);
        assertThat(program.awaitExit()).isNotZero();
        assertThat(program.text()).contains("sidewarp: ", "/nowhere/api.sock");
    }

    private static OwnedProcess start(String... command) {
        return sidecars.program(sidecars.left(), List.of(), command);
    }
}
