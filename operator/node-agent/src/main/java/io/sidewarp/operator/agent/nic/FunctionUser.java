// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

/**
 * A user of a function that has to change.
 *
 * @param function address of the function
 * @param user name in the form of {@link VirtualFunctionUse}
 */
public record FunctionUser(PciAddress function, String user) {}
