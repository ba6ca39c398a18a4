// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.sidewarp.common.GracefulEnd;

/** Starts the node agent. */
@QuarkusMain
public final class NodeAgentMain {

    private NodeAgentMain() {}

    public static void main(String... arguments) {
        GracefulEnd.onTermination();
        Quarkus.run(arguments);
    }
}
