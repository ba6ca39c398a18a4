// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** How the programs of the operator end. */
@NullMarked
package io.sidewarp.operator.api.process;

import org.jspecify.annotations.NullMarked;
