// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Ends of programs beside Sidewarp: what moves the same bytes without RDMA. */
@NullMarked
package io.sidewarp.bench.end.peer;

import org.jspecify.annotations.NullMarked;
