// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.lang.reflect.Proxy;

/** Connections that have a number and nothing else. */
final class TestConnections {

    private TestConnections() {}

    static Connection connection(long id) {
        return (Connection) Proxy.newProxyInstance(
                TestConnections.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("id")) {
                        return id;
                    }
                    throw new UnsupportedOperationException(method.toString());
                });
    }
}
