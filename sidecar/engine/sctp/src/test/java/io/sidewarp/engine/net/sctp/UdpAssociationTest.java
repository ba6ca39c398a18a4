// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.net.sctp.usrsctp.Usrsctp;

/** Tests SCTP in UDP. Needs the library usrsctp (package libusrsctp2). */
final class UdpAssociationTest extends SctpAssociationSuite {

    @Override
    SctpStack stack() {
        return new SctpOverUdp(Usrsctp.load());
    }

    @Override
    int pathMtu() {
        return 65252;
    }
}
