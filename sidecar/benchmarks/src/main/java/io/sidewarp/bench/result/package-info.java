// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** What was measured, and its file: see docs/performance.md for its members. */
@NullMarked
package io.sidewarp.bench.result;

import org.jspecify.annotations.NullMarked;
