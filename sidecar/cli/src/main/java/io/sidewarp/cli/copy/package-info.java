// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The cp and serve commands: files through a window of shared memory. */
@NullMarked
package io.sidewarp.cli.copy;

import org.jspecify.annotations.NullMarked;
