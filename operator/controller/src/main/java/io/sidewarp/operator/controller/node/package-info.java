// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Nodes: which policies apply to which. */
@NullMarked
package io.sidewarp.operator.controller.node;

import org.jspecify.annotations.NullMarked;
