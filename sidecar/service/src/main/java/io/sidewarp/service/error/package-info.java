// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The statuses with which calls fail, with the details of RDMA in them where there are any. */
@NullMarked
package io.sidewarp.service.error;

import org.jspecify.annotations.NullMarked;
