// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

/**
 * A container that has a device.
 *
 * @param namespace namespace of its pod
 * @param pod name of its pod
 * @param container its name
 */
public record DeviceUser(String namespace, String pod, String container) {}
