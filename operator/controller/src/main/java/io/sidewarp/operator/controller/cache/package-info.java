// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Caches of the cluster's objects in the controller. */
@NullMarked
package io.sidewarp.operator.controller.cache;

import org.jspecify.annotations.NullMarked;
