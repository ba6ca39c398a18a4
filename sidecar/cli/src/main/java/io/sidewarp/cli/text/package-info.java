// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Formats for people and programs: sizes, times, addresses, tables, JSON. */
@NullMarked
package io.sidewarp.cli.text;

import org.jspecify.annotations.NullMarked;
