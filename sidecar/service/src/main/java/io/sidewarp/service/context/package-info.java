// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Objects that the parts of one session share. */
@NullMarked
package io.sidewarp.service.context;

import org.jspecify.annotations.NullMarked;
