// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The {@code sidewarp} command. */
@org.jspecify.annotations.NullMarked
package io.sidewarp.cli;
