// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.siw;

/**
 * A siw device that is ready for use.
 *
 * @param name name of the RDMA device
 * @param networkInterface interface of the device
 * @param uverbs name of its device node below /dev/infiniband
 * @param own true if the agent made the device and therefore removes it; other devices are used but never removed
 */
public record SiwLink(String name, String networkInterface, String uverbs, boolean own) {}
