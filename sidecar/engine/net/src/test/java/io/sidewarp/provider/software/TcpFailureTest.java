// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.netty.channel.ChannelException;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.provider.Endpoint;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the error messages for addresses that TCP cannot connect to. */
final class TcpFailureTest {

    private static final int PORT = 7471;

    private static String describe(String address, IOException said) throws UnknownHostException {
        return TcpFailure.describe(new InetSocketAddress(InetAddress.getByName(address), PORT), said);
    }

    /** Tests addresses that the kernel refuses before it sends anything. */
    @ParameterizedTest
    @CsvSource({
        "255.255.255.255, use the peer's own address",
        "224.0.0.1, use the peer's own address",
        "ff02::1, use the peer's own address",
        "192.0.2.1, check the address",
    })
    void anErrorThatHasNoMessageIsTold(String address, String advice) throws Exception {
        assertThat(describe(address, new NoRouteToHostException()))
                .contains("no TCP connection to", Integer.toString(PORT), "unreachable", advice)
                .doesNotContain("null");
    }

    @ParameterizedTest
    @CsvSource({
        "0.0.0.0, connects to this host",
        "::, connects to this host",
        "fe80::1, needs the interface",
        "127.0.0.1, that the peer listens",
    })
    void whatTheKernelSaidAndWhatToDoAreTold(String address, String advice) throws Exception {
        assertThat(describe(address, new ConnectException("told by the kernel")))
                .contains("no TCP connection to", "told by the kernel", advice);
    }

    /** Tests the error of Netty for a channel that it cannot make. */
    @Test
    void aSocketThatCannotBeHadIsTold() {
        InetSocketAddress remote = new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT);
        IOException said = new IOException("Too many open files");
        ChannelException failure = new ChannelException(
                "Unable to create Channel", new InvocationTargetException(new ChannelException(said)));

        assertThat(TcpFailure.describe(remote, failure))
                .contains("Too many open files", "limit of open files")
                .doesNotContain("InvocationTargetException", "listens");
    }

    @Test
    void aNameThatHasNoAddressIsTold() {
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("nobody.invalid", PORT);

        assertThat(TcpFailure.describe(unresolved, new UnknownHostException("nobody.invalid: no such name")))
                .contains("no such name", "check the name");
    }

    @Test
    void connectingToABroadcastAddressTellsWhatIsWrongWithIt() throws Exception {
        try (SoftwareProvider provider =
                        SoftwareProvider.builder().eventLoops(1).build();
                Device device = provider.open()) {
            Endpoint endpoint = new Endpoint(device, 64);
            InetSocketAddress everybody = new InetSocketAddress("255.255.255.255", PORT);

            Throwable failure = catchThrowable(() -> endpoint.queuePair
                    .connect(everybody, ConnectionParameters.defaults())
                    .get(10, TimeUnit.SECONDS));

            assertThat(failure.getCause())
                    .isInstanceOfSatisfying(
                            ConnectionFailedException.class,
                            failed -> assertThat(failed.kind()).isEqualTo(Kind.UNREACHABLE));
            assertThat(failure.getCause())
                    .hasMessageContaining("use the peer's own address")
                    .hasMessageNotContaining("null");
        }
    }
}
