// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The Unix socket for rings in shared memory. */
@NullMarked
package io.sidewarp.service.ring;

import org.jspecify.annotations.NullMarked;
