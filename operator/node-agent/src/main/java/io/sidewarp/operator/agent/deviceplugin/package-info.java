// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The kubelet's device plugin for {@code sidewarp.io/rnic}, and what the kubelet tells about devices in use. The protocol
 * is the kubelet's public device plugin API v1beta1 and its pod resources API v1. {@link
 * io.sidewarp.operator.agent.deviceplugin.PublishedDevices} is where discovery puts the devices of the node.
 */
@NullMarked
package io.sidewarp.operator.agent.deviceplugin;

import org.jspecify.annotations.NullMarked;
