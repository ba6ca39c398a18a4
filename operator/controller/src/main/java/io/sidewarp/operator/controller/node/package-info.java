// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Nodes, and the policies that apply to them. */
@NullMarked
package io.sidewarp.operator.controller.node;

import org.jspecify.annotations.NullMarked;
