// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The commands completion and man: what shells and manual readers need, from the same text as the help. */
@NullMarked
package io.sidewarp.cli.manual;

import org.jspecify.annotations.NullMarked;
