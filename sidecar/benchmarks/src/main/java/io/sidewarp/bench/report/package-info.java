// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Results in the documentation: tables in Markdown, and plots by gnuplot. */
@NullMarked
package io.sidewarp.bench.report;

import org.jspecify.annotations.NullMarked;
