// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import org.junit.jupiter.api.Test;

/** Tests a machine without the library. */
final class UsrsctpLibraryTest {

    @Test
    void aMissingLibraryIsNamedWithThePackageThatHasIt() {
        assertThatThrownBy(() -> Usrsctp.find("libusrsctp.so.999"))
                .isInstanceOf(SctpUnavailableException.class)
                .hasMessageContaining("libusrsctp.so.999")
                .hasMessageContaining("apt-get install libusrsctp2");
    }
}
