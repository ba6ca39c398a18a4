// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Results in the documentation: tables in Markdown, plots in SVG, and the targets. */
@NullMarked
package io.sidewarp.bench.report;

import org.jspecify.annotations.NullMarked;
