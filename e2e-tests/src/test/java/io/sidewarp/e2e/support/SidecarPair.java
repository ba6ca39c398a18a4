// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Two sidecars with their defaults, for all tests of a class. */
public final class SidecarPair implements BeforeAllCallback, AfterAllCallback {

    private final List<SidecarProcess> sidecars = new ArrayList<>();

    @Override
    public void beforeAll(ExtensionContext context) {
        sidecars.add(SidecarProcess.start("left"));
        sidecars.add(SidecarProcess.start("right"));
    }

    @Override
    public void afterAll(ExtensionContext context) {
        sidecars.forEach(SidecarProcess::close);
    }

    public SidecarProcess left() {
        return sidecars.getFirst();
    }

    public SidecarProcess right() {
        return sidecars.getLast();
    }
}
