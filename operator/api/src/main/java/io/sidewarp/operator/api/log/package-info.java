// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** What lines of the log have in common. */
@NullMarked
package io.sidewarp.operator.api.log;

import org.jspecify.annotations.NullMarked;
