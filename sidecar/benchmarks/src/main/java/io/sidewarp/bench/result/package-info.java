// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Results of measurements, and their file; see sidecar/benchmarks/README.md for its members. */
@NullMarked
package io.sidewarp.bench.result;

import org.jspecify.annotations.NullMarked;
