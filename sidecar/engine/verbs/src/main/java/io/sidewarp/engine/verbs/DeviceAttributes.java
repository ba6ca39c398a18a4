// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.util.Set;

/**
 * Capabilities of a device.
 *
 * @param provider name of the provider, for instance "software"
 * @param maxPrivateData largest private data in bytes
 * @param extensions whether the device has Immediate Data and atomic operations (RFC 7306)
 */
public record DeviceAttributes(
        String provider,
        Set<Llp> llps,
        int maxSge,
        int maxSendQueue,
        int maxReceiveQueue,
        int maxIrd,
        int maxOrd,
        int maxPrivateData,
        boolean extensions) {}
