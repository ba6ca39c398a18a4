// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Code that the sidecar and the programs of the operator share: settings, lines of the log, termination. */
@NullMarked
package io.sidewarp.common;

import org.jspecify.annotations.NullMarked;
