// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Termination of the operator's programs. */
@NullMarked
package io.sidewarp.operator.api.process;

import org.jspecify.annotations.NullMarked;
