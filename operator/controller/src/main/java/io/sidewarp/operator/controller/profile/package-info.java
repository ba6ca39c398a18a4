// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Checks whether profiles of sidecars can be used. */
@NullMarked
package io.sidewarp.operator.controller.profile;

import org.jspecify.annotations.NullMarked;
