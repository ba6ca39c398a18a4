// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the kernel provider without a device. KernelDeviceSuite tests it with a device. */
class KernelProviderTest {

    @Test
    void saysWhatIsMissing() {
        KernelProvider provider = new KernelProvider(List.of("no-such-device"), KernelLimits.defaults());

        assertThatThrownBy(provider::open)
                .isInstanceOf(KernelVerbsUnavailableException.class)
                .message()
                .containsAnyOf("apt-get install librdmacm1 ibverbs-providers", "no iWARP device called no-such-device");
    }

    @ParameterizedTest
    @CsvSource({
        "0, SUCCESS",
        "1, LOCAL_LENGTH_ERROR",
        "4, LOCAL_PROTECTION_ERROR",
        "5, FLUSHED",
        "10, REMOTE_ACCESS_ERROR",
        "11, REMOTE_OPERATION_ERROR",
        "21, FATAL"
    })
    void statusesOfVerbsHaveTheirMeaning(int status, CqeStatus meaning) {
        assertThat(KernelErrors.status(status)).isEqualTo(meaning);
    }

    @ParameterizedTest
    @CsvSource({
        "111, REFUSED",
        "113, UNREACHABLE",
        "99, UNREACHABLE",
        "110, TIMEOUT",
        "22, INVALID_PARAMETERS",
        "104, PROTOCOL"
    })
    void errorNumbersTellWhereToLook(int error, ConnectionFailedException.Kind kind) {
        ConnectionFailedException failure = KernelErrors.connecting("192.0.2.1:7", -error);

        assertThat(failure.kind()).isEqualTo(kind);
        assertThat(failure).hasMessageStartingWith("cannot connect to 192.0.2.1:7: ");
    }
}
