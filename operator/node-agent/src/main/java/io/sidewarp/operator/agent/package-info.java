// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** The program. */
@NullMarked
package io.sidewarp.operator.agent;

import org.jspecify.annotations.NullMarked;
