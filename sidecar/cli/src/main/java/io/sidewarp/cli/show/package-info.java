// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The show command: what a sidecar holds. */
@NullMarked
package io.sidewarp.cli.show;

import org.jspecify.annotations.NullMarked;
