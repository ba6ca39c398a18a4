// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The ping command: RDMA Read and RDMA Write of a pattern, checked at both ends. */
@NullMarked
package io.sidewarp.cli.ping;

import org.jspecify.annotations.NullMarked;
