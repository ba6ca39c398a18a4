// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider;

import io.sidewarp.engine.verbs.Device;

/**
 * A way to carry out verbs, such as the software engine. What an application sees ({@link io.sidewarp.engine.verbs}) is
 * the same over all of them.
 */
public interface RdmaProvider extends AutoCloseable {

    /** Short name for settings, listings and telemetry, for instance "software". */
    String name();

    /** Opens the device. */
    Device open();

    /** Releases threads and other resources of the provider. Devices are closed first. */
    @Override
    void close();
}
