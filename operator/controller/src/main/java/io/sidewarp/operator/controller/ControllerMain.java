// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.sidewarp.common.GracefulEnd;

/** Starts the {@link Controller}. */
@QuarkusMain
public final class ControllerMain {

    private ControllerMain() {}

    public static void main(String... arguments) {
        // An interrupted clean-up has not succeeded and must exit with a failure.
        if (arguments.length == 0) {
            GracefulEnd.onTermination();
        }
        Quarkus.run(Controller.class, arguments);
    }
}
