// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.net.sctp.SctpEndpoint;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.net.sctp.socket.NativeFunction;
import io.sidewarp.engine.net.sctp.socket.SocketApi;
import java.lang.foreign.Arena;
import java.net.BindException;
import java.net.InetAddress;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the error messages where the kernel has no SCTP, or refuses a request. */
final class SctpErrorsTest {

    private static final int EVERY_PROTOCOL_HAS_A_SMALLER_NUMBER = 255;

    @Test
    void aKernelWithoutTheProtocolIsToldFromOneThatForbidsIt() {
        assertThat(SctpErrors.unavailable(-KernelConstants.EPROTONOSUPPORT))
                .isInstanceOf(SctpUnavailableException.class)
                .hasMessageStartingWith("this kernel has no SCTP (error number 93)")
                .hasMessageContaining("modprobe sctp")
                .hasMessageContaining("SCTP in UDP");
        assertThat(SctpErrors.unavailable(-KernelConstants.EACCES))
                .hasMessageStartingWith("this process may not use the kernel's SCTP (error number 13)");
    }

    @Test
    void theErrorNumberOfACallIsTakenFromTheCallItself() {
        try (Arena arena = Arena.ofConfined()) {
            int result = SystemCalls.SOCKET.call(
                    NativeFunction.newCallState(arena),
                    KernelConstants.AF_INET,
                    SocketApi.SOCK_SEQPACKET,
                    EVERY_PROTOCOL_HAS_A_SMALLER_NUMBER);

            assertThat(-result).isIn(KernelConstants.EPROTONOSUPPORT, KernelConstants.ESOCKTNOSUPPORT);
        }
    }

    @Test
    void whatCannotBeBoundToIsNamed() throws Exception {
        List<InetAddress> addresses = List.of(InetAddress.getByName("192.0.2.7"), InetAddress.getByName("192.0.2.8"));

        assertThat(SctpErrors.unbound(addresses, 5043, -SocketApi.EADDRINUSE))
                .isInstanceOf(BindException.class)
                .hasMessage("SCTP port 5043 of 192.0.2.7, 192.0.2.8 is in use");
        assertThat(SctpErrors.unbound(addresses, 5043, -KernelConstants.EADDRNOTAVAIL))
                .isInstanceOf(BindException.class)
                .hasMessage("not all of these are addresses of this machine: 192.0.2.7, 192.0.2.8");
    }

    @Test
    void anEndpointThatCannotOpenLeavesNothingBehindAndSaysWhy() throws Exception {
        // Without SCTP there is no socket, and with it the address is not of this machine.
        InetAddress elsewhere = InetAddress.getByName("192.0.2.7");
        try (EngineLoops loops = EngineLoops.create(1, NetSettings.defaults())) {
            CompletableFuture<SctpEndpoint> endpoint = KernelEndpoint.open(
                    loops, loops.choose(), List.of(elsewhere), OptionalInt.of(1), SctpSettings.defaults());

            assertThatThrownBy(() -> endpoint.get(10, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasMessageMatching("(?s).*(cannot create an SCTP socket|192.0.2.7).*");
        }
    }
}
