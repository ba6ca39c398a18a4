// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Stand-in for the part of a kubelet that deals with device plugins and drivers of claims. */
@NullMarked
package io.sidewarp.operator.testing.kubelet;

import org.jspecify.annotations.NullMarked;
