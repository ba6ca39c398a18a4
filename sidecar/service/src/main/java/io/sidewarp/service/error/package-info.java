// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Statuses of failed calls, with RDMA details where they exist. */
@NullMarked
package io.sidewarp.service.error;

import org.jspecify.annotations.NullMarked;
