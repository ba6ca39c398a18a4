// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.net.sctp.kernel.KernelSctp;
import io.sidewarp.engine.verbs.ConnectionFailedException;

/** Connections over the kernel's SCTP. Runs where the kernel has it: in the virtual machine of the end-to-end tests. */
final class KernelProviderSuite extends SctpProviderSuite {

    @Override
    SoftwareProvider.Builder provider() {
        return SoftwareProvider.builder().sctp(KernelSctp::load);
    }

    /** {@inheritDoc} The kernel of the other side answers for a port that nobody has. */
    @Override
    ConnectionFailedException.Kind nobodyThere() {
        return ConnectionFailedException.Kind.UNREACHABLE;
    }

    @Override
    int remoteUdpPort() {
        return 0;
    }
}
