// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** DDP over SCTP (RFC 5043): the adaptation, usrsctp, and SCTP of the kernel. */
module io.sidewarp.engine.sctp {
    requires transitive io.sidewarp.engine.net;
    requires io.netty.buffer;
    requires io.netty.common;
    requires io.netty.transport.classes.epoll;
    requires org.slf4j;

    exports io.sidewarp.engine.llp.sctp;
    exports io.sidewarp.engine.net.sctp;
    exports io.sidewarp.engine.net.sctp.kernel;
    exports io.sidewarp.engine.net.sctp.usrsctp;
    exports io.sidewarp.provider.software.sctp;
}
