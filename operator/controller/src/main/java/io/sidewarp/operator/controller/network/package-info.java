// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Uses the SR-IOV network operator and Multus, where they are installed, through their own resources. */
@NullMarked
package io.sidewarp.operator.controller.network;

import org.jspecify.annotations.NullMarked;
