// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider;

import io.sidewarp.engine.verbs.Device;

/**
 * An implementation of verbs, such as the software engine. The interface for applications ({@link
 * io.sidewarp.engine.verbs}) is the same for all implementations.
 */
public interface RdmaProvider extends AutoCloseable {

    /** Short name for settings, listings and telemetry, for instance "software". */
    String name();

    /** Opens the device. */
    Device open();

    /** Releases threads and other resources of the provider. The caller closes the devices first. */
    @Override
    void close();
}
