// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.net.sctp.kernel.KernelSctp;
import io.sidewarp.engine.verbs.AssociationPath;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.provider.software.sctp.SoftwareSctp;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

/** Tests connections over the kernel's SCTP in the virtual machine of the end-to-end tests, whose kernel has SCTP. */
final class KernelProviderSuite extends SctpProviderSuite {

    @Override
    SoftwareSctp sctp() {
        return SoftwareSctp.of(KernelSctp::load);
    }

    /** {@inheritDoc} The kernel of the other side answers for a port that nobody has. */
    @Override
    ConnectionFailedException.Kind nobodyThere() {
        return ConnectionFailedException.Kind.REFUSED;
    }

    @Test
    void associationsHaveAPathToEachAddressThatWasSet() throws Exception {
        InetAddress first = InetAddress.ofLiteral("127.0.0.1");
        InetAddress second = InetAddress.ofLiteral("127.0.0.2");

        assertThat(associate(first, second).paths())
                .extracting(AssociationPath::remote)
                .containsExactly(first, second);
    }

    @Override
    int remoteUdpPort() {
        return 0;
    }
}
