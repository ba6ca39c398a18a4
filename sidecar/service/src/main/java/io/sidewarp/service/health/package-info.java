// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Health of the sidecar: alive, ready, and usable by its application. */
@NullMarked
package io.sidewarp.service.health;

import org.jspecify.annotations.NullMarked;
