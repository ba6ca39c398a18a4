// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Whether the sidecar is alive, ready, and usable by its application. */
@NullMarked
package io.sidewarp.service.health;

import org.jspecify.annotations.NullMarked;
