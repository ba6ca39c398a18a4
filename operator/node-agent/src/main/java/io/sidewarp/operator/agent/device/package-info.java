// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Devices of the node, and what the two ways to offer them share. Discovery publishes the devices in {@link
 * io.sidewarp.operator.agent.device.PublishedDevices}.
 */
@NullMarked
package io.sidewarp.operator.agent.device;

import org.jspecify.annotations.NullMarked;
