// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The perf command: throughput, message rate and latency. */
@NullMarked
package io.sidewarp.cli.perf;

import org.jspecify.annotations.NullMarked;
