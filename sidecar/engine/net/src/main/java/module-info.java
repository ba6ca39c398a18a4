// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Event loops, TCP, and the provider that carries out verbs in software. */
module io.sidewarp.engine.net {
    requires transitive io.netty.transport;
    requires transitive io.sidewarp.engine.protocol;
    requires io.netty.buffer;
    requires io.netty.common;
    requires io.netty.transport.classes.epoll;
    requires io.netty.transport.unix.common;
    requires jdk.unsupported;
    requires org.slf4j;

    exports io.sidewarp.engine.net;
    exports io.sidewarp.engine.net.tls;
    exports io.sidewarp.provider.software;
}
