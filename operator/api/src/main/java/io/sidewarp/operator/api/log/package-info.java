// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Common code for lines of the log. */
@NullMarked
package io.sidewarp.operator.api.log;

import org.jspecify.annotations.NullMarked;
