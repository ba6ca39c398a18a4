// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Device plugin for {@code sidewarp.io/rnic}, and client of the kubelet's list of devices in use. The protocols are the
 * kubelet's public device plugin API v1beta1 and its pod resources API v1.
 */
@NullMarked
package io.sidewarp.operator.agent.deviceplugin;

import org.jspecify.annotations.NullMarked;
