// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** What the controller keeps of the cluster's objects. */
@NullMarked
package io.sidewarp.operator.controller.cache;

import org.jspecify.annotations.NullMarked;
