// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** {@code sidewarp identity}: a small CA for sidecars. */
@NullMarked
package io.sidewarp.cli.identity;

import org.jspecify.annotations.NullMarked;
