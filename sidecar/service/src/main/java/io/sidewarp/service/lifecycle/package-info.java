// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Start and end of the process: parts made from settings, exit codes, and the drain that lets work finish. */
@NullMarked
package io.sidewarp.service.lifecycle;

import org.jspecify.annotations.NullMarked;
