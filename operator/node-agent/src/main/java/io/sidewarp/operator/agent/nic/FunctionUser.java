// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

/**
 * Somebody who uses a function that has to change.
 *
 * @param user as {@link VirtualFunctionUse} names it
 */
public record FunctionUser(PciAddress function, String user) {}
