// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Policies: their status, derived from the nodes, and their deletion, which waits until NICs are restored. */
@NullMarked
package io.sidewarp.operator.controller.policy;

import org.jspecify.annotations.NullMarked;
