// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.net.sctp.kernel.KernelSctp;

/** Tests the kernel's SCTP in the virtual machine of the end-to-end tests, whose kernel has SCTP. */
final class KernelAssociationSuite extends SctpAssociationSuite {

    @Override
    SctpStack stack() {
        return KernelSctp.load();
    }

    /** {@inheritDoc} The kernel takes the interface's 65536 octets for 65532, and an IP header has 20. */
    @Override
    int pathMtu() {
        return 65512;
    }
}
