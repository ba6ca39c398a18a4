// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.siw;

/**
 * A siw device that is ready to be used.
 *
 * @param name of the RDMA device
 * @param networkInterface on which it is
 * @param uverbs name of its device node below /dev/infiniband
 * @param own whether the agent made it, so that the agent removes it; others' are used and left
 */
public record SiwLink(String name, String networkInterface, String uverbs, boolean own) {}
