// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Data of the status page. */
@NullMarked
package io.sidewarp.service.status;

import org.jspecify.annotations.NullMarked;
