// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Main program of the node agent. */
@NullMarked
package io.sidewarp.operator.agent;

import org.jspecify.annotations.NullMarked;
